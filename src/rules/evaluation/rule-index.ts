// Rule index: the active rules by device, tag, workspace, output connector and custom logic block.
import type { CompiledRule, Watch } from './compiled-rule.ts';

export interface RuleIndex {
  readonly size: number;
  /** Whether any rule has a tag as an input. */
  readonly hasTags: boolean;
  add(compiled: CompiledRule): void;
  /** Returns the removed rule. */
  remove(ruleId: string): CompiledRule | undefined;
  rule(ruleId: string): CompiledRule | undefined;
  ids(): readonly string[];
  all(): Iterable<CompiledRule>;
  /** Rules of the workspace with the device, or one of the tags, as an input. */
  rulesFor(
    deviceId: string,
    tags: ReadonlySet<string>,
    workspaceId: string,
  ): readonly CompiledRule[];
  /**
   * Watches that may need samples of the device, because any device of the workspace may get a tag.
   */
  watchesOf(deviceId: string, workspaceId: string): readonly Watch[];
  /**
   * Ids of rules that name the device as an input, also after it was moved to another workspace.
   */
  namedBy(deviceId: string): readonly string[];
  /**
   * The workspace of the device if a rule of it names the device, else ''; undefined when no rule
   * names it.
   */
  namedWorkspace(deviceId: string): string | undefined;
  /** Ids of rules that use the output connector or custom logic block. */
  using(id: string): readonly string[];
  workspacesWithTags(tagIds: readonly string[]): ReadonlySet<string>;
}

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

export function createRuleIndex(): RuleIndex {
  const rules = new Map<string, CompiledRule>();
  const indexes: Indexes = {
    byDevice: new Map(),
    byTag: new Map(),
    byNamed: new Map(),
    byUsed: new Map(),
    taggedOf: new Map(),
  };
  const { byDevice, byTag, byNamed, byUsed, taggedOf } = indexes;

  return {
    get size() {
      return rules.size;
    },
    get hasTags() {
      return byTag.size > 0;
    },
    add(compiled) {
      rules.set(compiled.rule.id, compiled);
      for (const [sets, keys] of keysIn(indexes, compiled))
        for (const key of keys) addTo(sets, key, compiled);
    },
    remove(ruleId) {
      const known = rules.get(ruleId);
      if (known === undefined) return undefined;
      rules.delete(ruleId);
      for (const [sets, keys] of keysIn(indexes, known))
        for (const key of keys) removeFrom(sets, key, known);
      return known;
    },
    rule: (ruleId) => rules.get(ruleId),
    ids: () => [...rules.keys()],
    all: () => rules.values(),
    rulesFor(deviceId, tags, workspaceId) {
      const found = new Set(byDevice.get(deviceId));
      for (const tag of tags) for (const compiled of byTag.get(tag) ?? []) found.add(compiled);
      return [...found].filter(({ rule }) => rule.workspaceId === workspaceId);
    },
    watchesOf(deviceId, workspaceId) {
      const rulesOf = [byDevice.get(deviceId) ?? [], taggedOf.get(workspaceId) ?? []];
      return watchesOf(rulesOf.flatMap((found) => [...found]));
    },
    namedBy: (deviceId) => idsOf(byNamed.get(deviceId)),
    namedWorkspace(deviceId) {
      if (!byNamed.has(deviceId)) return undefined;
      const [rule] = byDevice.get(deviceId) ?? [];
      return rule?.rule.workspaceId ?? '';
    },
    using: (id) => idsOf(byUsed.get(id)),
    workspacesWithTags: (tagIds) =>
      new Set(
        tagIds.flatMap((id) => [...(byTag.get(id) ?? [])].map(({ rule }) => rule.workspaceId)),
      ),
  };
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
