// SPDX-License-Identifier: Apache-2.0
// The page of the case in the address, with a link back to the list.

let latest = 0; // The number of the latest request: an earlier case may finish loading after it.

async function caseShow() {
  const section = byId("v-case");
  const place = placeOf(state.id);
  const turn = ++latest;
  if (place < 0) {
    section.replaceChildren(trail(-1), element("p", { class: "empty" }, `There is no case ${state.id || "without an id"}.`));
    return;
  }
  await loadMessages();
  const [details, described] = await Promise.all([detailsOf(place), describedOf(place)]);
  if (turn !== latest) return;
  section.replaceChildren(trail(place), page(place, details, described));
  window.scrollTo(0, 0);
}

const messageOf = (place, column) => {
  const number = data.messages[column][place];
  return number < 0 ? "" : data.messageTexts[number];
};

function trail(place) {
  const places = filtered();
  const at = places.indexOf(place);
  const to = (number, label, key) =>
    at >= 0 && places[number] !== undefined
      ? link(addressOf({ ...state, id: data.ids[places[number]] }), { id: key, rel: key }, label)
      : null;
  return element(
    "div",
    { class: "trail" },
    link(addressOf({ ...state, view: "cases", id: "" }), { id: "back" }, "← list"),
    element("span", { class: "dim" }, at < 0 ? "" : `${count(at + 1)} of ${count(places.length)}`),
    to(at - 1, "previous", "prev"),
    to(at + 1, "next", "next"),
  );
}

/** A link to the cases of an operator version. */
const operatorLink = (operator) => link(addressOf({ view: "cases", op: operator }), {}, operator || "unknown operator");
