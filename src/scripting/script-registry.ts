// Numbers for scripts, so that a source travels to each worker once and is afterwards known by its number.
import type { ScriptRegistration } from './worker-messages.ts';

export interface ScriptRegistry {
  /** The registration of the tenant's source, the same as last time unless it was forgotten since. */
  of(tenant: string, source: string): ScriptRegistration;
  /** Forgets all. */
  clear(): void;
}

/** Makes a registry of at most so many scripts and characters; the least recently registered make room. */
export function createScriptRegistry(scriptsMax: number, charsMax: number): ScriptRegistry {
  const byTenant = new Map<string, Map<string, ScriptRegistration>>();
  // In the order of registering. A script that is forgotten while in use only gets another number.
  const all = new Set<ScriptRegistration>();
  let nextId = 1;
  let chars = 0;

  const forgetOldest = (): void => {
    const oldest = all.values().next().value!;
    all.delete(oldest);
    chars -= oldest.source.length;
    const sources = byTenant.get(oldest.tenant)!;
    sources.delete(oldest.source);
    if (sources.size === 0) byTenant.delete(oldest.tenant);
  };
  return {
    of(tenant, source) {
      const known = byTenant.get(tenant)?.get(source);
      if (known !== undefined) return known;
      while (all.size > 0 && (all.size >= scriptsMax || chars + source.length > charsMax))
        forgetOldest();
      const registration = { id: nextId, tenant, source };
      nextId += 1;
      all.add(registration);
      chars += source.length;
      const sources = byTenant.get(tenant) ?? new Map<string, ScriptRegistration>();
      byTenant.set(tenant, sources.set(source, registration));
      return registration;
    },
    clear() {
      byTenant.clear();
      all.clear();
      chars = 0;
    },
  };
}
