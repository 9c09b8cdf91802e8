// Signing: the key is read when the button is pressed, sent, and forgotten.

const LARGEST = 65536; // bytes of a key
const form = document.getElementById("sign");

form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const [file] = form.querySelector("[type=file]").files;
  const passphrase = form.querySelector("[type=password]").value;
  const problem = form.querySelector("[role=alert]");
  const button = form.querySelector("button");
  const said = (text) => {
    problem.textContent = text[0].toUpperCase() + text.slice(1);
    problem.hidden = false;
    button.disabled = false;
  };
  problem.hidden = true;
  if (file.size > LARGEST) return said("The file is too large for a key; choose the private key.");
  button.disabled = true;
  try {
    const body = new URLSearchParams({ key: await file.text(), passphrase });
    const answer = await fetch(form.action, { method: "POST", body });
    if (!answer.ok) return said((await answer.json()).detail);
    form.reset();
    location.reload();
  } catch {
    said("The key cannot be read, or the workbench does not answer; try again.");
  }
});
