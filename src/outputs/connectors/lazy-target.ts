// Lazy target: loads the sender of a connector, and the client library it needs, with the first delivery.
import type { Target } from './target.ts';

/** `load` imports the sender and opens its target; it is called at most once. */
export function createLazyTarget(load: () => Promise<Target>): Target {
  let loading: Promise<Target> | undefined;
  let loaded: Target | undefined;
  return {
    send(message, signal) {
      if (loaded !== undefined) return loaded.send(message, signal);
      loading ??= load();
      return loading.then((target) => {
        loaded = target;
        return target.send(message, signal);
      });
    },
    async close() {
      const target = await loading?.catch(() => undefined);
      await target?.close();
    },
  };
}
