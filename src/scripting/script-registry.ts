// Script registry: numbers for scripts, so that a source is sent to each worker once and then referred to by its number.
import { textKey } from '../structures/text-key.ts';
import type { ScriptRegistration } from './worker-messages.ts';

export interface ScriptRegistry {
  /**
   * Returns the registration of the tenant's source: the same as last time unless it was evicted.
   */
  of(tenant: string, source: string): ScriptRegistration;
  clear(): void;
}

/**
 * `scriptsMax` and `charsMax` limit the registry. The least recently registered scripts are
 * evicted.
 */
export function createScriptRegistry(scriptsMax: number, charsMax: number): ScriptRegistry {
  const byTenant = new Map<string, Map<string, ScriptRegistration>>();
  // In the order of registration. A script that is evicted while in use only gets another number.
  const all = new Set<ScriptRegistration>();
  let nextId = 1;
  let chars = 0;

  function evict(registration: ScriptRegistration): void {
    const { tenant, source } = registration;
    all.delete(registration);
    chars -= source.length;
    const sources = byTenant.get(tenant);
    sources?.delete(textKey(source));
    if (sources?.size === 0) byTenant.delete(tenant);
  }

  return {
    of(tenant, source) {
      const key = textKey(source);
      const known = byTenant.get(tenant)?.get(key);
      if (known !== undefined) return known;
      for (const oldest of all) {
        if (all.size < scriptsMax && chars + source.length <= charsMax) break;
        evict(oldest);
      }
      const registration = { id: nextId, tenant, source };
      nextId += 1;
      all.add(registration);
      chars += source.length;
      const sources = byTenant.get(tenant) ?? new Map<string, ScriptRegistration>();
      byTenant.set(tenant, sources.set(key, registration));
      return registration;
    },
    clear() {
      byTenant.clear();
      all.clear();
      chars = 0;
    },
  };
}
