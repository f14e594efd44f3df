// Expected cells of the authorization matrix for alarms (contract 37).
import { record } from './record-cell.ts';
import type { Cell } from './route-cell.ts';

const update = ['rule', 'update'] as const;

const ofAlarm = (tail: string, body?: Cell['body']): Cell =>
  record('workspace', update, (of) => `/v3/alarms/${of.alarm}/${tail}`, body);

export const alarmCells: Readonly<Record<string, Cell>> = {
  'GET /v3/alarms': {
    needs: ['rule', 'read'],
    who: 'permitted',
    level: 'workspaceList',
    path: (of) => `/v3/alarms?workspaceId=${of.workspace}`,
  },
  'POST /v3/alarms/bulk': {
    needs: update,
    who: 'permitted',
    level: 'workspaceList',
    path: () => '/v3/alarms/bulk',
    body: (of) => ({ action: 'ACKNOWLEDGE', filter: { workspaceId: of.workspace } }),
  },
  'GET /v3/alarms/:id': record('workspace', ['rule', 'read'], (of) => `/v3/alarms/${of.alarm}`),
  'POST /v3/alarms/:id/acknowledge': ofAlarm('acknowledge'),
  'POST /v3/alarms/:id/clear': ofAlarm('clear', () => ({})),
  'POST /v3/alarms/:id/mute': ofAlarm('mute', () => ({ for: 'PT1H' })),
  'POST /v3/alarms/:id/comments': ofAlarm('comments', () => ({ text: 'x' })),
};
