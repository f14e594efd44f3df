// Runs the test cases of the decoder on a platform, in the script runtime that will decode uplinks.
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

const { HELIOGRAPH_URL = 'http://localhost:8080', HELIOGRAPH_API_KEY = '' } = process.env;
const here = (name) => readFileSync(new URL(name, import.meta.url), 'utf8');
const script = here('decoder.js');

for (const { name, event, emits } of JSON.parse(here('cases.json'))) {
  const response = await fetch(`${HELIOGRAPH_URL}/v3/run-script`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': HELIOGRAPH_API_KEY },
    body: JSON.stringify({ script, event }),
  });
  const result = await response.json();
  if (!response.ok) throw new Error(`${response.status} ${result.message}`);

  const passed = isDeepStrictEqual(result, emits);
  console.log(passed ? `passed  ${name}` : `FAILED  ${name}: ${JSON.stringify(result)}`);
  if (!passed) process.exitCode = 1;
}
