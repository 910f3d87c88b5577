// SPDX-License-Identifier: Apache-2.0
// Light, dark, or the system setting; the choice is stored if the browser allows it.

const THEMES = [["", "Auto", "system setting"], ["light", "Light", "light"], ["dark", "Dark", "dark"]];

function theme(name) {
  const [value, label, description] = THEMES.find(([key]) => key === name) ?? THEMES[0];
  if (value) document.documentElement.dataset.theme = value;
  else delete document.documentElement.dataset.theme;
  byId("theme").textContent = label;
  byId("theme").setAttribute("aria-label", `Colours: ${description}`);
}

function themeBegin() {
  let chosen = "";
  try {
    chosen = localStorage.getItem("theme") ?? "";
  } catch {
    // A browser without storage for files.
  }
  theme(chosen);
  byId("theme").addEventListener("click", () => {
    const at = THEMES.findIndex(([key]) => key === (document.documentElement.dataset.theme ?? ""));
    const next = THEMES[(at + 1) % THEMES.length][0];
    theme(next);
    try {
      localStorage.setItem("theme", next);
    } catch {
      // As above.
    }
  });
}
