// Access pages of mailed links: accept an invitation, set a new password. Static, so that they contain no secret.
import type { FastifyInstance, FastifyReply } from 'fastify';
import { pageScript } from './access-page-script.ts';

// Script and style of this server alone, nothing within the page.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface Page {
  readonly kind: 'invitation' | 'reset' | 'forgotten';
  readonly title: string;
  readonly fields: string;
  readonly button: string;
  /** From the page's address to the root. */
  readonly root: string;
}

const newPassword = `
<label for="password">Password</label>
<input id="password" type="password" autocomplete="new-password" required aria-describedby="hint">
<p id="hint" class="hint">At least ten characters that are not easily guessed. Several words are good.</p>`;

const invitation: Page = {
  kind: 'invitation',
  title: 'Invitation',
  fields: `
<div id="naming"><label for="name">Your name</label>
<input id="name" type="text" autocomplete="name" maxlength="500"></div>${newPassword}`,
  button: 'Accept',
  root: '../',
};
const reset: Page = {
  kind: 'reset',
  title: 'New password',
  fields: newPassword,
  button: 'Set password',
  root: '../',
};
const forgotten: Page = {
  kind: 'forgotten',
  title: 'Forgotten password',
  fields: `
<label for="email">E-mail address</label>
<input id="email" type="email" autocomplete="email" required>`,
  button: 'Send a link',
  root: './',
};

function htmlOf({ kind, title, fields, button, root }: Page): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} - Heliograph</title>
<link rel="stylesheet" href="${root}access/page.css">
<script src="${root}access/page.js" defer></script>
</head>
<body data-page="${kind}">
<main>
<h1>${title}</h1>
<p id="about" role="status"></p>
<noscript><p>This page needs JavaScript.</p></noscript>
<form id="form" hidden>${fields}
<p id="error" role="alert"></p>
<button type="submit">${button}</button>
</form>
</main>
</body>
</html>
`;
}

const style = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 26rem; margin: 10vh auto; padding: 0 1.25rem; }
label { display: block; margin-top: 1rem; font-weight: 600; }
input, button { box-sizing: border-box; width: 100%; padding: 0.6rem 0.75rem; font: inherit; }
button { margin-top: 1rem; cursor: pointer; }
.hint { margin: 0.25rem 0 0; font-size: 0.875rem; }
#error { min-height: 1.5rem; margin: 0.75rem 0 0; color: light-dark(#a40000, #ff9a9a); }
:focus-visible { outline: 3px solid #3b82f6; outline-offset: 2px; }
`;

/**
 * Adds `/invitations/<token>`, `/password-reset` and `/password-reset/<token>`, with their script
 * and style.
 */
export function addAccessPages(app: FastifyInstance): void {
  const pages = {
    '/invitations/:token': invitation,
    '/password-reset/:token': reset,
    '/password-reset': forgotten,
  };
  for (const [path, page] of Object.entries(pages)) serve(app, path, 'text/html', htmlOf(page));
  serve(app, '/access/page.js', 'text/javascript', pageScript);
  serve(app, '/access/page.css', 'text/css', style);
}

function serve(app: FastifyInstance, path: string, type: string, text: string): void {
  const handler = async (_request: unknown, reply: FastifyReply) =>
    reply
      .type(`${type}; charset=utf-8`)
      .header('content-security-policy', policy)
      .serializer((payload: unknown) => payload as string)
      .send(text);
  app.route({ method: ['GET', 'HEAD'], url: path, handler });
}
