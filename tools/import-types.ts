// `npm run import-types -- FOLDER`: sends a device type library, or a part of it, to a running platform.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** A request contains complete types up to about this number of characters, and the data models. */
const requestCharacters = 16 * 1024 * 1024;
const pictureBytesMax = 1024 * 1024;

interface Summary {
  types: number;
  created: number;
  updated: number;
  unchanged: number;
  problems: { path: string; message: string }[];
  warnings: { path: string; message: string }[];
}

interface Upload {
  readonly files: Record<string, string>;
  readonly pictures: Record<string, string>;
}

const [folder] = process.argv.slice(2);
const { HELIOGRAPH_URL: url = 'http://localhost:8080', HELIOGRAPH_API_KEY: apiKey } = process.env;

if (folder === undefined || apiKey === undefined) {
  console.error(
    'usage: HELIOGRAPH_API_KEY=... [HELIOGRAPH_URL=http://localhost:8080] npm run import-types -- FOLDER',
  );
  process.exitCode = 2;
} else {
  process.exitCode = await importTypes(resolve(folder), url.replace(/\/+$/, ''), apiKey);
}

/**
 * The root of the library: the folder above `types`, so that a type has the same path for every
 * import folder.
 */
function rootOf(folder: string): string {
  for (let at = folder; dirname(at) !== at; at = dirname(at)) {
    const types = join(at, 'types');
    if (existsSync(types) && (at === folder || `${folder}${sep}`.startsWith(types + sep)))
      return at;
  }
  return folder;
}

/** Paths of files, from the root with slashes, without hidden folders and installed packages. */
function pathsIn(root: string): string[] {
  const paths: string[] = [];
  const walk = (at: string): void => {
    for (const entry of readdirSync(at, { withFileTypes: true })) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const path = join(at, entry.name);
      if (entry.isDirectory()) walk(path);
      else if (entry.isFile()) paths.push(relative(root, path).split(sep).join('/'));
    }
  };
  walk(root);
  return paths.sort();
}

/** Uploads of whole types; each has the data models of the whole library. */
function uploads(root: string, wanted: string): Upload[] {
  const paths = pathsIn(root);
  const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');
  const typeFolders = new Set(
    paths.filter((path) => /(^|\/)meta\.json$/.test(path)).map((path) => folderOf(path)),
  );
  const models: Record<string, string> = {};
  for (const path of paths) {
    if (!path.endsWith('.json') || typeFolders.has(folderOf(path))) continue;
    const text = textOf(path);
    if (text.includes('"$id"')) models[path] = text;
  }
  const done: Upload[] = [];
  let current: Upload = { files: { ...models }, pictures: {} };
  let size = 0;
  for (const folder of [...typeFolders].filter((name) => name.startsWith(wanted)).sort()) {
    if (size >= requestCharacters) {
      done.push(current);
      current = { files: { ...models }, pictures: {} };
      size = 0;
    }
    for (const path of paths.filter((name) => folderOf(name) === folder)) {
      if (/\.json$|(^|\/)(uplink|downlink)\.js$/.test(path))
        size += (current.files[path] = textOf(path)).length;
      else if (/\.(png|jpe?g|gif|webp)$/i.test(path)) {
        if (statSync(join(root, path)).size > pictureBytesMax) {
          console.error(`${path}: skipped: it is larger than ${pictureBytesMax} bytes`);
        } else
          size += (current.pictures[path] = readFileSync(join(root, path)).toString('base64'))
            .length;
      }
    }
  }
  return [...done, current];
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

async function importTypes(folder: string, base: string, key: string): Promise<number> {
  const startedAt = performance.now();
  const call = async (method: string, path: string, body?: unknown) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const answer = await fetch(base + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const said = (await answer.json()) as Record<string, unknown>;
    if (!answer.ok)
      throw new Error(`${method} ${path}: ${answer.status} ${String(said['message'])}`);
    return said;
  };
  const { content } = (await call('GET', '/v3/organizations')) as { content: { id: string }[] };
  const organizationId = content[0]?.id;
  const root = rootOf(folder);
  const within = relative(root, folder).split(sep).join('/');
  const total: Summary = {
    types: 0,
    created: 0,
    updated: 0,
    unchanged: 0,
    problems: [],
    warnings: [],
  };
  for (const upload of uploads(root, within === '' ? '' : `${within}/`)) {
    const summary = (await call('POST', '/v3/device-types/import', {
      organizationId,
      ...upload,
    })) as unknown as Summary;
    for (const name of ['types', 'created', 'updated', 'unchanged'] as const)
      total[name] += summary[name];
    total.problems.push(...summary.problems);
    total.warnings.push(...summary.warnings);
  }
  for (const { path, message } of total.warnings) console.error(`warning: ${path}: ${message}`);
  for (const { path, message } of total.problems) console.error(`refused: ${path}: ${message}`);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  const { types, created, updated, unchanged, problems, warnings } = total;
  console.log(
    `${types} device types in ${seconds} s: ${created} made, ${updated} updated, ${unchanged} unchanged; ` +
      `${warnings.length} warnings, ${problems.length} refused`,
  );
  return problems.length === 0 ? 0 : 1;
}
