// The plans in memory: one for each device that sent something, found by device and forgotten by workspace.
import type { CompiledRule } from './compiled-rule.ts';
import { type DevicePlan, type PlanningFailed, planDevice } from './device-plan.ts';

/** Plans kept; those that were asked for least recently make room. */
const plansMax = 100_000;

export interface Plans {
  /** Which of the devices have no plan; those that have one keep it while others are made. */
  missing(devices: ReadonlyMap<string, { readonly workspaceId: string }>): readonly string[];
  /** A plan that lacks a rule, because the rule threw, is missing again for the next batch. */
  make(
    deviceId: string,
    workspaceId: string,
    tags: ReadonlySet<string>,
    rules: Iterable<CompiledRule>,
    failed: PlanningFailed,
  ): void;
  /** Undefined when no rule looks at the device. Throws when its plan was not made: then rules would be passed over in silence. */
  of(deviceId: string): DevicePlan | undefined;
  /** The plan as far as it was made; undefined as well when it was not. */
  known(deviceId: string): DevicePlan | undefined;
  forget(deviceId: string): void;
  /** Tells that rules of the workspace remember something of the device. */
  relate(deviceId: string, workspaceId: string): void;
  /** Forgets the plans of the workspace; the devices it had to do with. */
  forgetWorkspace(workspaceId: string): Iterable<string>;
}

/** `evicted` is told of devices whose plans made room. */
export function createPlans(evicted: (deviceId: string) => void, max = plansMax): Plans {
  const plans = new Map<
    string,
    { readonly workspaceId: string; readonly plan: DevicePlan | null; readonly isPartial: boolean }
  >();
  const devicesOf = new Map<string, Set<string>>();

  function relate(deviceId: string, workspaceId: string): void {
    const devices = devicesOf.get(workspaceId);
    if (devices === undefined) devicesOf.set(workspaceId, new Set([deviceId]));
    else devices.add(deviceId);
  }

  return {
    missing(devices) {
      const missing: string[] = [];
      for (const [id, { workspaceId }] of devices) {
        const known = plans.get(id);
        if (known?.workspaceId !== workspaceId) missing.push(id);
        else if (known.isPartial) {
          // The rule that was left out may have samples to remember that came meanwhile.
          evicted(id);
          missing.push(id);
        } else {
          plans.delete(id);
          plans.set(id, known);
        }
      }
      const others = plans.size - (devices.size - missing.length);
      let excess = Math.min(others, plans.size + missing.length - max);
      for (const id of plans.keys()) {
        if (excess-- <= 0) break;
        devicesOf.get(plans.get(id)!.workspaceId)?.delete(id);
        plans.delete(id);
        evicted(id);
      }
      return missing;
    },
    make(deviceId, workspaceId, tags, rules, failed) {
      let isPartial = false;
      const plan = planDevice(deviceId, tags, rules, (compiled, error) => {
        isPartial = true;
        failed(compiled, error);
      });
      plans.set(deviceId, { workspaceId, plan: plan ?? null, isPartial });
      relate(deviceId, workspaceId);
    },
    of(deviceId) {
      const known = plans.get(deviceId);
      if (known === undefined) throw new Error(`The rules of device ${deviceId} were not prepared`);
      return known.plan ?? undefined;
    },
    known: (deviceId) => plans.get(deviceId)?.plan ?? undefined,
    forget: (deviceId) => void plans.delete(deviceId),
    relate,
    forgetWorkspace(workspaceId) {
      const devices = devicesOf.get(workspaceId) ?? [];
      devicesOf.delete(workspaceId);
      for (const id of devices) plans.delete(id);
      return devices;
    },
  };
}
