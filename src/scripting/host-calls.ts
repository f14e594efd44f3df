// Host calls: what a script's realm may ask of the host, and the answers.
import * as border from './guest.ts';
import { createIntlHost } from './intl-host.ts';
import type { Pointer, QuickJs } from './quickjs.ts';
import type { RunRecorder } from './run-recorder.ts';
import type { RunWatch } from './run-watch.ts';
import { errorEntry, scriptError } from './script-error.ts';
import type { AnalyzedScript } from './source-analysis.ts';

export interface HostCallParts {
  readonly js: QuickJs;
  /** Read at each call, because the guest is built after its callbacks. */
  readonly guest: () => border.Guest;
  /** The script that runs. */
  readonly script: () => AnalyzedScript;
  readonly recorder: RunRecorder;
  readonly watch: RunWatch;
}

export function createHostCalls(parts: HostCallParts): QuickJs['callbacks'] {
  const { watch } = parts;
  const intl = createIntlHost();

  function answer(argv: Pointer, id: number): Pointer {
    const { js, guest } = parts;
    if (id === border.hostCallIds.entropy)
      return js._QTS_NewFloat64(guest().context, Math.random());
    // Host calls are few and long: each counts as a heartbeat and checks the limits.
    watch.poll();
    if (id === border.hostCallIds.intl) {
      if (watch.stopped) return 0;
      const text = (index: number): string => readArgument(parts, argv, index);
      return border.newString(js, guest(), intl(text(0), text(1), text(2), text(3)));
    }
    if (id === border.hostCallIds.record && !watch.stopped) record(parts, argv);
    else if (id === border.hostCallIds.fail && !watch.stopped) fail(parts, argv);
    return watch.stopped ? js._QTS_NewFloat64(guest().context, 1) : 0;
  }

  return {
    callFunction(_asyncify, _context, _self, _argc, argv, id) {
      try {
        return answer(argv, id);
      } catch (error) {
        watch.fail(engineFailure(error));
        return 0;
      }
    },
    shouldInterrupt: () => (watch.poll() ? 1 : 0),
    freeHostRef: () => undefined,
  };
}

function record({ js, recorder, watch, ...parts }: HostCallParts, argv: Pointer): void {
  const at = pointerTo({ js, ...parts }, argv, 0);
  const { HEAPU8 } = js;
  if (!recorder.append(HEAPU8, at, HEAPU8.indexOf(0, at)))
    watch.fail('The script emitted more than 1 MB');
}

function fail(parts: HostCallParts, argv: Pointer): void {
  const { js, guest, script, recorder, watch } = parts;
  const ends = js._QTS_GetFloat64(guest().context, js._QTS_ArgvGetJSValueConstPointer(argv, 2));
  const message = readArgument(parts, argv, 0);
  const stack = readArgument(parts, argv, 1);
  recorder.appendText(errorEntry(scriptError(message, stack, script())));
  if (ends === 1) watch.stop();
}

type StringParts = Pick<HostCallParts, 'js' | 'guest'>;

function readArgument(parts: StringParts, argv: Pointer, index: number): string {
  return border.readText(parts.js, pointerTo(parts, argv, index));
}

function pointerTo({ js, guest }: StringParts, argv: Pointer, index: number): Pointer {
  const at = js._QTS_GetString(guest().context, js._QTS_ArgvGetJSValueConstPointer(argv, index));
  if (at === 0) throw new Error('out of memory');
  return at;
}

/** A trap of the instance, or a stack overflow in the host. The instance is discarded. */
export function engineFailure(error: unknown): string {
  return `The script engine failed: ${error instanceof Error ? error.message : String(error)}`;
}
