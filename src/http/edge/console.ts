// Console: serves the built files of console/dist and, at every address of a screen, its page.
import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { acceptedCoding, type Coding, namesTag } from './send-json.ts';
import { pathOf } from './admission.ts';

/**
 * No inline code, no other host except for pictures of the map, and no string that becomes code or
 * markup. The same policy holds for every file of the console.
 */
const policyOf = (pictureOrigins: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ["img-src 'self'", ...pictureOrigins].join(' '),
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
const endings: Readonly<Record<Coding, string>> = { br: '.br', gzip: '.gz' };
const codings: readonly Coding[] = ['br', 'gzip'];
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
  readonly compressed: readonly Coding[];
  /** Its name contains a hash of its content. */
  readonly isHashed: boolean;
  readonly policy: string;
  /** What was sent already, by coding: each copy is read once. */
  readonly contents: Map<Coding | 'identity', Promise<Content>>;
}

interface Content {
  readonly bytes: Buffer;
  readonly etag: string;
}

/** Sends the page when the request is of a browser for a screen; undefined when it is not. */
export type ServeScreen = (
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<FastifyReply> | undefined;

/**
 * The console in `folder`. Only files that exist now are served, so no path can lead elsewhere.
 * Of a console that was not built, a page says how to build it. Pages may load pictures from
 * `pictureOrigins`.
 */
export class Console {
  readonly #policy: string;
  readonly #files;
  readonly #page;
  readonly #sendPage = async (request: FastifyRequest, reply: FastifyReply) =>
    this.#page === undefined ? sendUnbuilt(reply, this.#policy) : send(request, reply, this.#page);

  constructor(folder: string, pictureOrigins: readonly string[] = []) {
    this.#policy = policyOf(pictureOrigins);
    this.#files = filesOf(folder).map((file) => ({ ...file, policy: this.#policy }));
    this.#page = this.#files.find(({ path }) => path === pagePath);
  }

  /** Adds a route for each file. */
  readonly addFiles = (app: FastifyInstance): void => {
    for (const url of pageAddresses)
      app.route({
        method: ['GET', 'HEAD'],
        url,
        handler: this.#sendPage,
      });
    for (const file of this.#files.filter((one) => one !== this.#page))
      for (const url of addressesOf(file.path))
        app.route({
          method: ['GET', 'HEAD'],
          url,
          handler: (request, reply) => send(request, reply, file),
        });
  };

  readonly serveScreen: ServeScreen = (request, reply) =>
    isScreen(request) ? this.#sendPage(request, reply) : undefined;
}

/** Pages of the guide are named without the ending of their files. */
function addressesOf(path: string): readonly string[] {
  const name = `/${path}`.replace(/\.html$/, '');
  const folder = name.replace(/\/index$/, '');
  return folder === name ? [name] : [folder, `${folder}/`];
}

/** A browser that opens an address asks for HTML; a program does not. */
function isScreen(request: FastifyRequest): boolean {
  const { method, headers } = request;
  if (method !== 'GET' && method !== 'HEAD') return false;
  if (headers.accept?.includes('text/html') !== true) return false;
  return !programPaths.test(pathOf(request));
}

function filesOf(folder: string): Omit<ConsoleFile, 'policy'>[] {
  const paths = globSync('**/*', { cwd: folder }).map((path) => path.replaceAll('\\', '/'));
  const known = new Set(paths);
  return paths
    .filter((path) => extname(path) in contentTypes)
    .map((path) => {
      return {
        path,
        file: join(folder, path),
        contentType: contentTypes[extname(path)] ?? '',
        compressed: codings.filter((coding) => known.has(path + endings[coding])),
        isHashed: path.startsWith('assets/'),
        contents: new Map(),
      };
    });
}

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  file: ConsoleFile,
): Promise<FastifyReply> {
  const coding = acceptedCoding(request.headers['accept-encoding'], file.compressed);
  const { bytes, etag } = await contentOf(file, coding);
  reply.headers({
    'content-type': file.contentType,
    'content-security-policy': file.policy,
    'cache-control': file.isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: 'accept-encoding',
  });
  if (coding !== undefined) reply.header('content-encoding', coding);
  if (!file.isHashed) {
    reply.header('etag', etag);
    if (namesTag(request.headers['if-none-match'], etag)) return reply.code(304).send();
  }
  return reply.send(bytes);
}

/** Memory is bounded by the built console: some megabytes when all of its files were asked for. */
function contentOf(file: ConsoleFile, coding: Coding | undefined): Promise<Content> {
  const key = coding ?? 'identity';
  const known = file.contents.get(key);
  if (known !== undefined) return known;
  const content = readContent(file.file + (coding === undefined ? '' : endings[coding]));
  file.contents.set(key, content);
  // A file that could not be read is tried again by the next request.
  content.catch(() => file.contents.delete(key));
  return content;
}

async function readContent(path: string): Promise<Content> {
  const bytes = await readFile(path);
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  return { bytes, etag };
}

function sendUnbuilt(reply: FastifyReply, policy: string): FastifyReply {
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
