// `npm run import-types -- FOLDER`: sends a device type library to a running platform and prints what became of it.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

const [folder] = process.argv.slice(2);
const { HELIOGRAPH_URL: url = 'http://localhost:8080', HELIOGRAPH_API_KEY: apiKey } = process.env;

if (folder === undefined || apiKey === undefined) {
  console.error('usage: HELIOGRAPH_API_KEY=... [HELIOGRAPH_URL=http://localhost:8080] npm run import-types -- FOLDER');
  process.exitCode = 2;
} else {
  process.exitCode = await importTypes(folder, url.replace(/\/+$/, ''), apiKey);
}

/** Scripts, schemas and data models; pictures and tests of the library stay behind. */
function libraryFiles(root: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.json$|^(uplink|downlink)\.js$/.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    if (path.includes(`${sep}node_modules${sep}`)) continue;
    files[relative(root, path).split(sep).join('/')] = readFileSync(path, 'utf8');
  }
  return files;
}

async function importTypes(root: string, base: string, key: string): Promise<number> {
  const startedAt = performance.now();
  const call = async (method: string, path: string, body?: unknown) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const answer = await fetch(base + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const said = (await answer.json()) as Record<string, unknown>;
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${String(said['message'])}`);
    return said;
  };
  const { content } = (await call('GET', '/v3/organizations')) as { content: { id: string }[] };
  const organizationId = content[0]?.id;
  const files = libraryFiles(root);
  const summary = (await call('POST', '/v3/device-types/import', { organizationId, files })) as {
    types: number;
    created: number;
    updated: number;
    unchanged: number;
    problems: { path: string; message: string }[];
  };
  for (const { path, message } of summary.problems) console.error(`${path}: ${message}`);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  const { types, created, updated, unchanged, problems } = summary;
  console.log(
    `${types} device types in ${seconds} s: ${created} made, ${updated} updated, ${unchanged} unchanged; ${problems.length} problems`,
  );
  return problems.length === 0 ? 0 : 1;
}
