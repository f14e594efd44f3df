// Completion of scripts: members of the event, emits, Bits and Hex, and the keys that the type declares.
import {
  type Completion,
  type CompletionSource,
  snippetCompletion,
} from '@codemirror/autocomplete';
import type { ScriptPart } from './payload.ts';

const eventMembers: Readonly<Record<ScriptPart, readonly string[]>> = {
  uplinkScript: [
    'data',
    'data.payloadHex',
    'data.port',
    'device',
    'device.id',
    'device.deviceId',
    'device.name',
    'device.customFields',
    'device.tags',
    'uplinkMetrics',
    'topic',
    'timestamp',
    'state',
  ],
  downlinkScript: [
    'payload',
    'port',
    'confirmed',
    'topic',
    'device',
    'device.id',
    'device.deviceId',
    'device.name',
    'device.customFields',
    'device.tags',
    'state',
  ],
};

const emits: Readonly<Record<ScriptPart, readonly Completion[]>> = {
  uplinkScript: [
    snippet("emit('sample', { data: { #{} }, topic: '#{default}' });", "emit('sample')"),
    snippet("emit('state', { #{} });", "emit('state')"),
    snippet("emit('log', { #{} });", "emit('log')"),
  ],
  downlinkScript: [
    snippet(
      "emit('downlink', { port: #{1}, confirmed: false, payloadHex: #{} });",
      "emit('downlink') LoRaWAN",
    ),
    snippet("emit('downlink', { topic: '#{}', payload: #{} });", "emit('downlink') MQTT"),
    snippet("emit('log', { #{} });", "emit('log')"),
  ],
};

const functions: readonly (readonly [label: string, detail: string])[] = [
  ['Bits.hexToBits', '(hex)'],
  ['Bits.bitsToHex', '(bits)'],
  ['Bits.base64ToBits', '(base64)'],
  ['Bits.bitsToBase64', '(bits)'],
  ['Bits.base64ToBytes', '(base64)'],
  ['Bits.bitsToUnsigned', '(bits)'],
  ['Bits.bitsToSigned', '(bits)'],
  ['Hex.hexToBytes', '(hex)'],
  ['Hex.bytesToHex', '(bytes)'],
  ['Hex.hexLittleEndianToBigEndian', '(hex, signed = true)'],
];

function snippet(template: string, label: string): Completion {
  return snippetCompletion(template, { label, type: 'keyword', boost: 2 });
}

/** `keys` are the declared keys of the type. */
export function completionsOf(part: ScriptPart, keys: readonly string[]): CompletionSource {
  const options: readonly Completion[] = [
    ...emits[part],
    ...eventMembers[part].map((name) => ({ label: `event.${name}`, type: 'property', boost: 1 })),
    ...functions.map(([label, detail]) => ({ label, detail, type: 'function' })),
    ...keys.map((label) => ({ label, type: 'property' })),
  ];
  return (context) => {
    const word = context.matchBefore(/[\w.]+/);
    if (word === null && !context.explicit) return null;
    return { from: word?.from ?? context.pos, options, validFor: /^[\w.]*$/ };
  };
}
