// Late tools: what the shell needs but not to show the first page, asked for together with the first data.
import { late } from '../../ui/late.tsx';
import { hasSession } from '../../session/session.ts';

// So early that keys work as soon as there are rows.
const load = () => import('./tools.tsx');
const early = hasSession() ? load() : undefined;
const tools = () => early ?? load();

export const Tools = late('Tools', async () => (await tools()).Tools);
export const ConnectionBar = late('ConnectionBar', async () => (await tools()).ConnectionBar);
export const ZoneNote = late('ZoneNote', async () => (await tools()).ZoneNote);
export const AlarmBell = late('AlarmBell', async () => (await tools()).AlarmBell);
export const MenuDialog = late('MenuDialog', async () => (await tools()).MenuDialog);
