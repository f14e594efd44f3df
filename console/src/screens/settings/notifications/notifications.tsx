// Notifications of a workspace: who is on call, and when alarms are muted (contract 39.4).
import { SettingsFrame } from '../settings-frame.tsx';
import { MutesCard } from './mutes.tsx';
import { OnCallCard } from './on-call.tsx';

export function Notifications() {
  return (
    <SettingsFrame
      tab="notifications"
      curl={(workspaceId) => ({ path: `/v3/on-call?workspaceId=${workspaceId}` })}
    >
      <OnCallCard />
      <MutesCard />
    </SettingsFrame>
  );
}
