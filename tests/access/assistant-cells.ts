// Expected cells of the authorization matrix: assistants, and what they may try out (contract 37).
import { comparisonOf } from './access-world.ts';
import { record } from './record-cell.ts';
import type { Cell } from './route-cell.ts';

export const assistantCells: Readonly<Record<string, Cell>> = {
  'POST /mcp': { who: 'anyCredential', level: 'none', path: () => '/mcp', body: () => ({}) },
  'POST /v3/rules/simulate': {
    ...record(
      'workspace',
      ['rule', 'read'],
      () => '/v3/rules/simulate',
      (of) => ({
        rule: { name: 'x', workspaceId: of.workspace, ...comparisonOf(of.device) },
        from: '2026-01-01T00:00:00Z',
        to: '2026-01-02T00:00:00Z',
      }),
    ),
    also: [['asset', 'read']],
  },
};
