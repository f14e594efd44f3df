// Route of script runs, whose events have no effect (interface 4.8, contract 16).
import { scripts } from '../../contract/run-script.ts';
import type { Json } from '../../model/json.ts';
import type { Principal } from '../../model/principal.ts';
import { type Route, route } from '../edge/route.ts';

export function runScriptRoute(
  runScript: (
    source: string,
    event: Json,
    principal: Principal,
    signal: AbortSignal,
  ) => Promise<readonly { type: string; event: Json }[]>,
): Route {
  return route(scripts.run, async ({ body, signal }, principal) => [
    ...(await runScript(body.script, body.event ?? {}, principal, signal)),
  ]);
}
