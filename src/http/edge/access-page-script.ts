// Script of the access pages: takes the token from the address and calls the interface.

export const pageScript = `'use strict';
const base = new URL('../', document.currentScript.src);
const page = document.body.dataset.page;
const token = location.pathname.split('/').pop();
const at = (id) => document.getElementById(id);

function say(text) {
  at('about').textContent = text;
}

async function call(method, path, body) {
  const json = body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const answer = await fetch(new URL(path, base), { method, credentials: 'omit', ...json });
  const text = await answer.text();
  const value = text === '' ? {} : JSON.parse(text);
  if (!answer.ok) throw new Error(value.message || 'The server answered ' + answer.status);
  return value;
}

function finish(text) {
  at('form').hidden = true;
  say(text);
  at('about').tabIndex = -1;
  at('about').focus();
}

const pages = {
  invitation: {
    async open() {
      const { email, organizationName, newUser } = await call('GET', 'v3/auth/invitations/' + token);
      say('You are invited to ' + organizationName + ' as ' + email + '.');
      at('naming').hidden = newUser === false;
      if (newUser === true) return;
      at('hint').textContent = newUser === false
        ? 'You have an account with this address: give its password.'
        : 'If you have an account with this address, give its password; else choose one of at least ten characters.';
      if (newUser === false) at('password').autocomplete = 'current-password';
    },
    async send() {
      const name = at('name').value.trim();
      const body = { password: at('password').value, ...(name === '' ? {} : { name }) };
      const { email } = await call('POST', 'v3/auth/invitations/' + token, body);
      return 'You have accepted. Sign in as ' + email + '.';
    },
  },
  reset: {
    async open() {
      say('Choose a new password. You will be signed out everywhere.');
    },
    async send() {
      await call('POST', 'v3/auth/password-reset/' + token, { password: at('password').value });
      return 'The new password is set. Sign in with it.';
    },
  },
  forgotten: {
    async open() {
      say('A link that sets a new password is mailed to the address of your account.');
    },
    async send() {
      await call('POST', 'v3/auth/password-reset', { email: at('email').value });
      return 'If there is an account with this address, and this installation sends mail, the link is on its way.';
    },
  },
};

const { open, send } = pages[page];
open().then(
  () => {
    at('form').hidden = false;
    at('form').querySelector('div:not([hidden]) > input, form > input').focus();
  },
  () => say('This link is not valid any more. Ask for a new one.'),
);

at('form').addEventListener('submit', async (event) => {
  event.preventDefault();
  const button = at('form').querySelector('button');
  button.disabled = true;
  at('error').textContent = '';
  try {
    finish(await send());
  } catch (error) {
    at('error').textContent = error.message;
  } finally {
    button.disabled = false;
  }
});
`;
