// Payload proposals: JSON with its keys and schema, bytes in hex or base64, and what is neither.
import { describe, expect, test } from 'vitest';
import { proposalOf } from './setup-requests.ts';

describe('a pasted payload', () => {
  test('of JSON has its keys, those within objects by their path, and a schema', () => {
    const proposal = proposalOf(
      ' {"temperature": 21.5, "open": true, "air": {"co2": 400, "note": null}, "raw": [1]} ',
    );
    expect(proposal).toMatchObject({
      form: 'json',
      keys: [
        { key: 'temperature', type: 'number', shown: '21.5' },
        { key: 'open', type: 'boolean', shown: 'true' },
        { key: 'air.co2', type: 'number', shown: '400' },
        { key: 'air.note', type: 'null', shown: 'null' },
        { key: 'raw', type: 'array', shown: '[1]' },
      ],
    });
    expect(proposal.form === 'json' && JSON.parse(proposal.schema)).toEqual({
      type: 'object',
      properties: {
        temperature: { type: 'number' },
        open: { type: 'boolean' },
        air: { type: 'object', properties: { co2: { type: 'number' }, note: {} } },
        raw: { type: 'array' },
      },
    });
  });

  test.each([
    ['01 67 00 D7', 'hex', '016700d7'],
    ['0x016700d7', 'hex', '016700d7'],
    ['AWcA1w==', 'base64', '016700d7'],
  ])('%s is bytes', (text, written, payloadHex) => {
    expect(proposalOf(text)).toEqual({ form: 'bytes', written, payloadHex });
  });

  test.each(['{"temperature": ', 'hello there', '"text"', 'true'])('%s is neither', (text) => {
    expect(proposalOf(text).form).toBe('unreadable');
  });

  test('that is not there yet proposes nothing', () => {
    expect(proposalOf('  ')).toEqual({ form: 'empty' });
  });
});
