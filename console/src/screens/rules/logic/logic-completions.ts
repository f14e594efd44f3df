// Completion of custom logic: members of the event with the own inputs and properties, and emits.
import {
  type Completion,
  type CompletionSource,
  snippetCompletion,
} from '@codemirror/autocomplete';
import type { LogicDraft } from './logic-draft.ts';

const members = [
  'type',
  'inputs',
  'properties',
  'state',
  'device',
  'device.id',
  'device.deviceId',
  'device.name',
  'dataSources',
  'numberOfInvocations',
  'platformStart',
  'timer',
  'rule',
];

const emits: readonly Completion[] = [
  snippet("emit('action', { #{} });", "emit('action')"),
  snippet("emit('state', { #{} });", "emit('state')"),
  snippet(
    "emit('timer', { runAt: new Date(Date.now() + #{60000}), meta: { #{} } });",
    "emit('timer')",
  ),
  snippet("emit('log', { #{} });", "emit('log')"),
];

function snippet(template: string, label: string): Completion {
  return snippetCompletion(template, { label, type: 'keyword', boost: 2 });
}

export function logicCompletions({
  inputs,
  properties,
}: Pick<LogicDraft, 'inputs' | 'properties'>): CompletionSource {
  const names = [
    ...members,
    ...inputs.map(({ variableName }) => `inputs.${variableName}`),
    ...properties.map(({ variableName }) => `properties.${variableName}`),
  ];
  const known = names.map((name) => ({ label: `event.${name}`, type: 'property', boost: 1 }));
  const options = [...emits, ...known];
  return (context) => {
    const word = context.matchBefore(/[\w.]+/);
    if (word === null && !context.explicit) return null;
    return { from: word?.from ?? context.pos, options, validFor: /^[\w.]*$/ };
  };
}
