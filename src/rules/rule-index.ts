// The index of the active rules: by device, by tag, by workspace and by what they use.
import type { CompiledRule, Watch } from './compiled-rule.ts';

export interface RuleIndex {
  readonly size: number;
  /** Whether any rule has a tag as an input. */
  readonly hasTags: boolean;
  add(compiled: CompiledRule): void;
  /** The rule that was there. */
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
  /** What rules of the workspace may have to remember of the device: any of its devices may carry a tag. */
  watchesOf(deviceId: string, workspaceId: string): readonly Watch[];
  /** Ids of rules that name the device as an input, those whose workspace it left as well. */
  namedBy(deviceId: string): readonly string[];
  /** The workspace of the device for the rules that name it, '' when it is in none of theirs; undefined when none names it. */
  namedWorkspace(deviceId: string): string | undefined;
  /** Ids of rules that use the output connector or custom logic block. */
  using(id: string): readonly string[];
  workspacesWithTags(tagIds: readonly string[]): ReadonlySet<string>;
}

type Sets = Map<string, Set<CompiledRule>>;

export function createRuleIndex(): RuleIndex {
  const rules = new Map<string, CompiledRule>();
  const byDevice: Sets = new Map();
  const byTag: Sets = new Map();
  const byNamed: Sets = new Map();
  const byUsed: Sets = new Map();
  const taggedOf: Sets = new Map();

  function placesOf({
    rule,
    sources,
    byTag: isTagged,
  }: CompiledRule): (readonly [Sets, readonly string[]])[] {
    const { logic, actions, inputs, workspaceId } = rule;
    const used = [
      ...actions.map(({ id }) => id),
      ...[logic.customLogic?.customLogicId ?? []].flat(),
    ];
    const read = new Set(logic.dataSources.flatMap(({ inputIds }) => inputIds));
    return [
      [byDevice, sources.flatMap(({ deviceIds }) => deviceIds)],
      [byTag, sources.flatMap(({ tagIds }) => tagIds)],
      [
        byNamed,
        inputs.filter(({ type, id }) => type === 'DEVICE' && read.has(id)).map(({ id }) => id),
      ],
      [byUsed, used],
      [taggedOf, isTagged ? [workspaceId] : []],
    ];
  }

  return {
    get size() {
      return rules.size;
    },
    get hasTags() {
      return byTag.size > 0;
    },
    add(compiled) {
      rules.set(compiled.rule.id, compiled);
      for (const [sets, keys] of placesOf(compiled))
        for (const key of keys) addTo(sets, key, compiled);
    },
    remove(ruleId) {
      const known = rules.get(ruleId);
      if (known === undefined) return undefined;
      rules.delete(ruleId);
      for (const [sets, keys] of placesOf(known))
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
      const watches = new Map<string, Watch>();
      for (const sets of [byDevice.get(deviceId), taggedOf.get(workspaceId)]) {
        for (const { sources } of sets ?? [])
          for (const { watch } of sources) watches.set(watch.id, watch);
      }
      return [...watches.values()];
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
