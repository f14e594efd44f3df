// Plans in memory: one per device that sent something, found by device, discarded by device or workspace.
import { WorkingSet } from '../../structures/working-set.ts';
import type { CompiledRule } from './compiled-rule.ts';
import { type DevicePlan, type PlanningFailed, planDevice } from './device-plan.ts';

export const planLimits = {
  /**
   * Devices with a plan, and with condition states in memory. The least recently used ones are
   * evicted, first of workspaces with more than an equal share, and read again when they send.
   */
  plansMax: 100_000,
} as const;

interface StoredPlan {
  readonly workspaceId: string;
  readonly plan: DevicePlan | undefined;
  /** A rule threw and is not in the plan. */
  readonly isPartial: boolean;
}

/** `evicted` is called with devices whose plans are no longer in memory or incomplete. */
export class Plans {
  readonly #evicted: (deviceId: string) => void;
  readonly #devicesOf = new Map<string, Set<string>>();
  readonly #plans: WorkingSet<string, StoredPlan>;

  constructor(evicted: (deviceId: string) => void, max: number = planLimits.plansMax) {
    this.#evicted = evicted;
    this.#plans = new WorkingSet<string, StoredPlan>(
      max,
      ({ workspaceId }, id) => {
        this.#devicesOf.get(workspaceId)?.delete(id);
        evicted(id);
      },
      ({ workspaceId }) => workspaceId,
    );
  }

  /**
   * Undefined when no rule reads the device. Throws when its plan was not made, because rules
   * would be skipped without notice.
   */
  readonly find = (deviceId: string): DevicePlan | undefined => {
    const known = this.#plans.get(deviceId);
    if (known === undefined) throw new Error(`The rules of device ${deviceId} were not prepared`);
    return known.plan;
  };

  /**
   * Returns the devices that need a plan. The other given devices keep theirs while these are
   * made. A plan without a rule that threw is made again.
   */
  missing(devices: ReadonlyMap<string, { readonly workspaceId: string }>): readonly string[] {
    for (const [id, { workspaceId }] of devices) {
      const known = this.#plans.get(id);
      const isOfOther = known !== undefined && known.workspaceId !== workspaceId;
      if (isOfOther || known?.isPartial === true) this.#plans.delete(id);
      // The rule that is not in the plan has samples to keep, which arrived in the meantime.
      if (!isOfOther && known?.isPartial === true) this.#evicted(id);
    }
    return this.#plans.claim(devices.keys());
  }

  make(
    {
      id,
      workspaceId,
      tags,
      rules,
    }: {
      readonly id: string;
      readonly workspaceId: string;
      readonly tags: ReadonlySet<string>;
      readonly rules: Iterable<CompiledRule>;
    },
    failed: PlanningFailed,
  ): DevicePlan | undefined {
    let isPartial = false;
    const plan = planDevice(id, tags, rules, (compiled, error) => {
      isPartial = true;
      failed(compiled, error);
    });
    this.#plans.set(id, { workspaceId, plan, isPartial });
    this.relate(id, workspaceId);
    return plan;
  }

  /** As `find`, and undefined when the plan was not made. */
  known(deviceId: string): DevicePlan | undefined {
    return this.#plans.get(deviceId)?.plan;
  }

  forget(deviceId: string): void {
    this.#plans.delete(deviceId);
  }

  /** Call when rules of the workspace keep samples of the device. */
  relate(deviceId: string, workspaceId: string): void {
    const devices = this.#devicesOf.get(workspaceId);
    if (devices === undefined) this.#devicesOf.set(workspaceId, new Set([deviceId]));
    else devices.add(deviceId);
  }

  /** Discards the plans of the workspace. Returns the devices that are related to it. */
  forgetWorkspace(workspaceId: string): Iterable<string> {
    const devices = this.#devicesOf.get(workspaceId) ?? [];
    this.#devicesOf.delete(workspaceId);
    for (const id of devices) this.#plans.delete(id);
    return devices;
  }
}
