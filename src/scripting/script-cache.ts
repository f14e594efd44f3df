// Compiled scripts of one worker, the least recently used forgotten when their images need too much memory.
import type { ScriptErrorEvent } from './emit.ts';
import type { CompiledScript } from './engine.ts';

/** A script that was registered: not compiled yet, compiled, or refused with an error. */
export interface CachedScript {
  readonly tenant: string;
  readonly source: string;
  compiled: CompiledScript | { readonly error: ScriptErrorEvent } | undefined;
}

export interface ScriptCache {
  add(id: number, tenant: string, source: string): void;
  /** The script, which is now the most recently used one. */
  get(id: number): CachedScript | undefined;
  /** Evicts what is too much, and returns these scripts. */
  trim(): number[];
}

/**
 * Makes a cache that keeps images and sources of `bytesMax` altogether, and at least the script
 * used last.
 */
export function createScriptCache(bytesMax: number): ScriptCache {
  // A Map keeps the order of insertion: a script that is used is put at its end.
  const scripts = new Map<number, CachedScript>();
  const counted = new Map<number, number>();
  let bytes = 0;

  const forget = (id: number): void => {
    bytes -= counted.get(id) ?? 0;
    counted.delete(id);
    scripts.delete(id);
  };
  return {
    add(id, tenant, source) {
      scripts.set(id, { tenant, source, compiled: undefined });
    },
    get(id) {
      const script = scripts.get(id);
      if (script === undefined) return undefined;
      scripts.delete(id);
      scripts.set(id, script);
      return script;
    },
    trim() {
      const forgotten: number[] = [];
      for (const [id, script] of scripts) {
        if (!counted.has(id) && script.compiled !== undefined) {
          const size = bytesOf(script);
          counted.set(id, size);
          bytes += size;
        }
      }
      for (const id of scripts.keys()) {
        if (bytes <= bytesMax || scripts.size === 1) break;
        forget(id);
        forgotten.push(id);
      }
      return forgotten;
    },
  };
}

// The rest is objects and the wrapped copy of the source.
const overheadBytes = 1_024;

function bytesOf({ source, compiled }: CachedScript): number {
  const bytes = overheadBytes + source.length;
  if (compiled === undefined || 'error' in compiled) return bytes;
  return bytes + compiled.image.bytes + source.length;
}
