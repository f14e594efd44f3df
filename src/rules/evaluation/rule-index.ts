// Rule index: the active rules by device, tag, workspace, output connector and custom logic block.
import type { CompiledRule, Watch } from './compiled-rule.ts';

type Sets = Map<string, Set<CompiledRule>>;

interface Indexes {
  readonly byDevice: Sets;
  readonly byTag: Sets;
  readonly byNamed: Sets;
  readonly byUsed: Sets;
  /** Rules with tags, by workspace. */
  readonly taggedOf: Sets;
}

/** The keys of a rule in each index. */
function keysIn(
  indexes: Indexes,
  { rule, sources, byTag }: CompiledRule,
): (readonly [Sets, readonly string[]])[] {
  const { logic, actions, inputs, workspaceId } = rule;
  const read = new Set(logic.dataSources.flatMap(({ inputIds }) => inputIds));
  const named = inputs.filter(({ type, id }) => type === 'DEVICE' && read.has(id));
  return [
    [indexes.byDevice, sources.flatMap(({ deviceIds }) => deviceIds)],
    [indexes.byTag, sources.flatMap(({ tagIds }) => tagIds)],
    [indexes.byNamed, named.map(({ id }) => id)],
    [
      indexes.byUsed,
      [...actions.map(({ id }) => id), logic.customLogic?.customLogicId ?? []].flat(),
    ],
    [indexes.taggedOf, [workspaceId].filter(() => byTag)],
  ];
}

export class RuleIndex {
  readonly #rules = new Map<string, CompiledRule>();
  readonly #indexes: Indexes = {
    byDevice: new Map(),
    byTag: new Map(),
    byNamed: new Map(),
    byUsed: new Map(),
    taggedOf: new Map(),
  };

  readonly rule = (ruleId: string): CompiledRule | undefined => this.#rules.get(ruleId);

  readonly all = (): Iterable<CompiledRule> => this.#rules.values();

  get size(): number {
    return this.#rules.size;
  }

  /** Whether any rule has a tag as an input. */
  get hasTags(): boolean {
    return this.#indexes.byTag.size > 0;
  }

  add(compiled: CompiledRule): void {
    this.#rules.set(compiled.rule.id, compiled);
    for (const [sets, keys] of keysIn(this.#indexes, compiled))
      for (const key of keys) addTo(sets, key, compiled);
  }

  /** Returns the removed rule. */
  remove(ruleId: string): CompiledRule | undefined {
    const known = this.#rules.get(ruleId);
    if (known === undefined) return undefined;
    this.#rules.delete(ruleId);
    for (const [sets, keys] of keysIn(this.#indexes, known))
      for (const key of keys) removeFrom(sets, key, known);
    return known;
  }

  ids(): readonly string[] {
    return [...this.#rules.keys()];
  }

  /** Rules of the workspace with the device, or one of the tags, as an input. */
  rulesFor(
    deviceId: string,
    tags: ReadonlySet<string>,
    workspaceId: string,
  ): readonly CompiledRule[] {
    const found = new Set(this.#indexes.byDevice.get(deviceId));
    for (const tag of tags)
      for (const compiled of this.#indexes.byTag.get(tag) ?? []) found.add(compiled);
    return [...found].filter(({ rule }) => rule.workspaceId === workspaceId);
  }

  /**
   * Watches that may need samples of the device, because any device of the workspace may get a
   * tag.
   */
  watchesOf(deviceId: string, workspaceId: string): readonly Watch[] {
    const rulesOf = [
      this.#indexes.byDevice.get(deviceId) ?? [],
      this.#indexes.taggedOf.get(workspaceId) ?? [],
    ];
    return watchesOf(rulesOf.flatMap((found) => [...found]));
  }

  /** Ids of rules that name the device as an input, also after it was moved to another workspace. */
  namedBy(deviceId: string): readonly string[] {
    return idsOf(this.#indexes.byNamed.get(deviceId));
  }

  /**
   * The workspace of the device if a rule of it names the device, else ''; undefined when no rule
   * names it.
   */
  namedWorkspace(deviceId: string): string | undefined {
    if (!this.#indexes.byNamed.has(deviceId)) return undefined;
    const [rule] = this.#indexes.byDevice.get(deviceId) ?? [];
    return rule?.rule.workspaceId ?? '';
  }

  /** Ids of rules that use the output connector or custom logic block. */
  using(id: string): readonly string[] {
    return idsOf(this.#indexes.byUsed.get(id));
  }

  /** Workspaces with a rule that has a place as an input. */
  workspacesWithPlaces(): ReadonlySet<string> {
    const placed = [...this.#rules.values()].filter(hasPlace);
    return new Set(placed.map(({ rule }) => rule.workspaceId));
  }

  workspacesWithTags(tagIds: readonly string[]): ReadonlySet<string> {
    return new Set(
      tagIds.flatMap((id) =>
        [...(this.#indexes.byTag.get(id) ?? [])].map(({ rule }) => rule.workspaceId),
      ),
    );
  }
}

function hasPlace({ rule }: CompiledRule): boolean {
  return rule.inputs.some(({ type }) => type === 'PLACE');
}

function watchesOf(rules: readonly CompiledRule[]): readonly Watch[] {
  const watches = rules.flatMap(({ sources }) => sources.map(({ watch }) => watch));
  return [...new Map(watches.map((watch) => [watch.id, watch])).values()];
}

function idsOf(rules: ReadonlySet<CompiledRule> | undefined): readonly string[] {
  return [...(rules ?? [])].map(({ rule }) => rule.id);
}

function addTo(sets: Sets, key: string, compiled: CompiledRule): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([compiled]));
  else set.add(compiled);
}

function removeFrom(sets: Sets, key: string, compiled: CompiledRule): void {
  const set = sets.get(key);
  if (set?.delete(compiled) === true && set.size === 0) sets.delete(key);
}
