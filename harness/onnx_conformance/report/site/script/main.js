// SPDX-License-Identifier: Apache-2.0
// Starts the script of the page.

const PAGES = { front: frontBegin, operator: operatorBegin, case: caseBegin, finding: findingBegin, findings: findingsBegin };

function fail(error) {
  byId("failed")?.remove();
  byId("main").prepend(element("p", { class: "cut", role: "alert", id: "failed" }, `The data could not be read: ${error.message}.`));
  console.error(error);
}

async function begin() {
  themeBegin();
  searchBegin();
  new MutationObserver(framesBegin()).observe(byId("main"), { childList: true, subtree: true });
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("main").focus();
  });
  await PAGES[here.page]?.();
  here.state = "ready";
}

begin().catch(fail);
