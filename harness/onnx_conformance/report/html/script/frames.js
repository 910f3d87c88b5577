// SPDX-License-Identifier: Apache-2.0
// Frames that scroll sideways: a fade shows where the table continues, and a sentence says so where the page has one.

function frameShow(frame) {
  const rest = frame.scrollWidth - frame.clientWidth;
  frame.classList.toggle("more", rest - frame.scrollLeft > 2);
  frame.classList.toggle("scrolled", frame.scrollLeft > 2);
  const hint = frame.previousElementSibling;
  if (!hint?.classList.contains("swipe")) return;
  hint.hidden = rest <= 2;
  hint.classList.toggle("on", rest > 2);
}

/** Watch all frames; call the result after frames were added or removed. */
function framesBegin() {
  let waiting = false;
  const show = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      document.querySelectorAll(".frame").forEach(frameShow);
    });
  };
  document.addEventListener("scroll", (event) => (event.target.classList?.contains("frame") ? frameShow(event.target) : show()), { capture: true, passive: true });
  window.addEventListener("resize", show);
  window.addEventListener("hashchange", show);
  show();
  return show;
}
