// Console: serves the built files of console/dist and, at every address of a screen, its page.
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pathOf } from './request-path.ts';

/**
 * No inline code, no other host, and no string that becomes code or markup. The same policy holds
 * for every file of the console.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};
/** In the order of preference. */
const encodings = [
  { name: 'br', ending: '.br' },
  { name: 'gzip', ending: '.gz' },
] as const;
/** Parts of the platform that answer programs; their unknown paths stay errors for programs. */
const programPaths = /^\/(v3|realms|docs|health|metrics|assets)(\/|$)/;

const pagePath = 'index.html';
/** The start and the addresses in mails: a page also for a client that does not ask for HTML. */
const pageAddresses = ['/', '/invitations/:token', '/password-reset', '/password-reset/:token'];

interface ConsoleFile {
  /** Below the folder, with forward slashes. */
  readonly path: string;
  /** Where it is on disk; the compressed copies have an ending more. */
  readonly file: string;
  readonly contentType: string;
  readonly compressed: readonly (typeof encodings)[number][];
  /** Its name contains a hash of its content. */
  readonly isHashed: boolean;
}

/** Sends the page when the request is of a browser for a screen; answers whether it did. */
export type ServeScreen = (request: FastifyRequest, reply: FastifyReply) => boolean;

export interface Console {
  /** Adds a route for each file. */
  readonly addFiles: (app: FastifyInstance) => void;
  readonly serveScreen: ServeScreen;
}

/**
 * The console in `folder`. Only files that exist now are served, so no path can lead elsewhere. Of
 * a console that was not built, a page says how to build it.
 */
export function consoleOf(folder: string): Console {
  const files = filesOf(folder);
  const page = files.find(({ path }) => path === pagePath);
  const sendPage = (request: FastifyRequest, reply: FastifyReply) =>
    page === undefined ? sendUnbuilt(reply) : send(reply, page, acceptedBy(request));
  return {
    addFiles(app) {
      for (const url of pageAddresses)
        app.route({
          method: ['GET', 'HEAD'],
          url,
          handler: async (...both) => sendPage(...both),
        });
      for (const file of files.filter((one) => one !== page))
        app.route({
          method: ['GET', 'HEAD'],
          url: `/${file.path}`,
          handler: async (request, reply) => send(reply, file, acceptedBy(request)),
        });
    },
    serveScreen(request, reply) {
      if (!isScreen(request)) return false;
      sendPage(request, reply);
      return true;
    },
  };
}

/** A browser that opens an address asks for HTML; a program does not. */
function isScreen(request: FastifyRequest): boolean {
  const { method, headers } = request;
  if (method !== 'GET' && method !== 'HEAD') return false;
  if (headers.accept?.includes('text/html') !== true) return false;
  return !programPaths.test(pathOf(request));
}

function filesOf(folder: string): ConsoleFile[] {
  const paths = globSync('**/*', { cwd: folder }).map((path) => path.replaceAll('\\', '/'));
  const known = new Set(paths);
  return paths
    .filter((path) => extname(path) in contentTypes)
    .map((path) => {
      return {
        path,
        file: join(folder, path),
        contentType: contentTypes[extname(path)] ?? '',
        compressed: encodings.filter(({ ending }) => known.has(path + ending)),
        isHashed: path.startsWith('assets/'),
      };
    });
}

function acceptedBy({ headers }: FastifyRequest): string {
  return String(headers['accept-encoding'] ?? '');
}

function send(reply: FastifyReply, file: ConsoleFile, accepted: string): FastifyReply {
  const encoding = file.compressed.find(({ name }) => accepts(accepted, name));
  const content = readFileSync(file.file + (encoding?.ending ?? ''));
  reply.headers({
    'content-type': file.contentType,
    'content-security-policy': policy,
    'cache-control': file.isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: 'accept-encoding',
  });
  if (encoding !== undefined) reply.header('content-encoding', encoding.name);
  if (!file.isHashed) {
    const etag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
    reply.header('etag', etag);
    if (reply.request.headers['if-none-match'] === etag) return reply.code(304).send();
  }
  return reply.send(content);
}

/** `gzip;q=0` is a refusal. */
function accepts(accepted: string, name: string): boolean {
  return accepted.split(',').some((one) => {
    const [coding = '', weight = ''] = one.trim().split(';');
    return coding.trim().toLowerCase() === name && !/^\s*q=0(\.0*)?\s*$/.test(weight);
  });
}

function sendUnbuilt(reply: FastifyReply): FastifyReply {
  return reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', policy)
    .header('cache-control', 'no-cache')
    .send(unbuiltPage);
}

const unbuiltPage = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Heliograph</title></head>
<body>
<h1>Heliograph runs; its console is not built</h1>
<p>Run <code>npm run build-console</code>, then start the platform again.</p>
<p>The <a href="/docs/">interface reference</a> works without it.</p>
</body>
</html>
`;
