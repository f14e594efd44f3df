// Console output: types of the interface, the fonts, the bundle, and its compressed copies. Needs no network.
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { allEndpoints } from '../src/contract/endpoint-table.ts';
import { openApiDocument } from '../src/http/edge/docs.ts';
import { writeConsoleFonts } from './console-fonts.ts';
import { writeGuide } from './guide/guide-output.ts';
import { noticesFile, thirdPartyNotices } from './third-party-notices.ts';

/** Smaller files travel in one packet anyway. */
const compressedFromBytes = 1_024;
const compressible = '**/*.{html,js,css,svg,json,txt}';

/** Users of the types, each with its own copy, which is not in the repository. */
const typeFolders = {
  console: join('console', 'generated'),
  client: join('clients', 'typescript', 'generated'),
};

/** Writes the TypeScript types of every endpoint for the console and the client. */
export async function writeInterfaceTypes(root: string): Promise<void> {
  const { default: openapiTypes, astToString } = await import('openapi-typescript');
  const document = openApiDocument(allEndpoints);
  // Objects of any members, such as the data of a sample, are records of unknown values.
  const nodes = await openapiTypes(document as unknown as Parameters<typeof openapiTypes>[0], {
    emptyObjectsUnknown: true,
  });
  const caption =
    '// Types of every endpoint, generated from the OpenAPI document of the platform.\n';
  const text = caption + astToString(nodes);
  for (const folder of Object.values(typeFolders)) writeTypes(join(root, folder), text);
}

function writeTypes(folder: string, text: string): void {
  const path = join(folder, 'interface-types.ts');
  mkdirSync(folder, { recursive: true });
  if (readOrEmpty(path) !== text) writeFileSync(path, text);
}

/** Builds console/dist/; returns the number of its files, compressed copies not counted. */
export async function buildConsole(root: string): Promise<number> {
  await Promise.all([writeInterfaceTypes(root), writeConsoleFonts(root)]);
  // The runner of tests says `test`, and Vite would then bundle the development build of React.
  process.env['NODE_ENV'] = 'production';
  const { build } = await import('vite');
  await build({ configFile: join(root, 'console', 'vite.config.ts'), logLevel: 'warn' });
  const output = join(root, 'console', 'dist');
  writeGuide(root, output);
  const bundled = readFileSync(join(output, '.vite', 'license.md'), 'utf8');
  writeFileSync(join(output, noticesFile), thirdPartyNotices(root, bundled));
  for (const path of globSync(compressible, { cwd: output })) compress(join(output, path));
  return globSync('**/*.*', { cwd: output }).filter((path) => !/\.(br|gz)$/.test(path)).length;
}

function compress(path: string): void {
  const bytes = readFileSync(path);
  if (bytes.length < compressedFromBytes) return;
  const best = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, best));
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
