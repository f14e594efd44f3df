// Tenant turns: round-robin over waiting tenants, so that slow reads of one tenant delay another by one read only.

export interface TenantTurns {
  /** Runs the work alone, when it is the turn of the tenant; settles as the work does. */
  run<T>(tenant: string, work: () => Promise<T>): Promise<T>;
}

export function createTenantTurns(): TenantTurns {
  /** In the order of their turns: a tenant that had one goes to the end. */
  const lines = new Map<string, Set<() => void>>();
  let isBusy = false;

  const wait = (tenant: string): Promise<void> =>
    new Promise((resolve) => {
      const line = lines.get(tenant);
      if (line === undefined) lines.set(tenant, new Set([resolve]));
      else line.add(resolve);
    });

  const passOn = (): void => {
    const [first] = lines;
    if (first === undefined) {
      isBusy = false;
      return;
    }
    const [tenant, line] = first;
    const [start] = line;
    lines.delete(tenant);
    if (start === undefined) return passOn();
    line.delete(start);
    if (line.size > 0) lines.set(tenant, line);
    start();
  };

  return {
    async run(tenant, work) {
      if (isBusy) await wait(tenant);
      isBusy = true;
      try {
        return await work();
      } finally {
        passOn();
      }
    },
  };
}
