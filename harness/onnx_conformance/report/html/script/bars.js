// SPDX-License-Identifier: Apache-2.0
// Counts by verdict as a sentence, and as the parts of a bar.

function sentenceOf(counts) {
  const { total, passed, specified, attempted } = rates(counts);
  if (!total) return "no data";
  const others = data.styles
    .map((style, number) => (style.name !== "pass" && counts[number] ? `${counts[number]} ${style.words}` : ""))
    .filter(Boolean);
  const inBrackets = (whole) => (whole && whole < FEW_CASES ? "" : ` (${rate(passed, whole)})`);
  return [
    `${passed} passed of ${specified} specified${inBrackets(specified)}, ` +
      `of ${attempted} attempted${inBrackets(attempted)}`,
    ...others,
  ].join("; ");
}

/** Family, first and width, in tenths of a percent; narrow parts are widened to stay visible. */
function sharesOf(counts) {
  const total = counts.reduce((sum, number) => sum + number, 0);
  const families = new Map();
  counts.forEach((number, verdict) => {
    const { family } = data.styles[verdict];
    if (number) families.set(family, (families.get(family) ?? 0) + number);
  });
  let whole = 0;
  for (const [family, number] of families) {
    const width = Math.max(data.least, Math.floor((number * 1000) / total));
    families.set(family, width);
    whole += width;
  }
  let first = 0;
  return Array.from(families, ([family, width]) => {
    const share = Math.floor((width * 1000) / whole);
    first += share;
    return [family, first - share, share];
  });
}
