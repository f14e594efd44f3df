// Alarm bell: how many alarms are open, and a way to the newest ones from every page.
import { Bell } from 'lucide-react';
import { useId, useState } from 'react';
import { useAlarmRefresh } from '../../session/use-workspace-events.ts';
import { late } from '../../ui/late.tsx';
import { useWorkspaceId } from '../../session/session.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { useOpenAlarms } from './open-alarms.ts';
import { shellWords } from './shell-words.ts';
import styles from './alarm-bell.module.css';

const Menu = late(
  'Menu',
  async () => (await import('../../screens/alarms/alarm-menu.tsx')).AlarmMenu,
);

/** What the counter has room for. */
const shownMax = 99;

/** Not there for users without permission to read alarms. */
export function AlarmBell() {
  const words = useWords(shellWords);
  const { count } = useFormats();
  const menu = useId();
  const workspaceId = useWorkspaceId();
  const { total } = useOpenAlarms();
  const [isOpen, setOpen] = useState(false);
  useAlarmRefresh(workspaceId);
  if (total === undefined) return null;
  const label = words.bell(count(total), total);
  return (
    <>
      <button
        type="button"
        className={styles['bell']}
        popoverTarget={menu}
        aria-label={label}
        title={label}
      >
        <Bell aria-hidden="true" />
        {total > 0 && <b aria-hidden="true">{total > shownMax ? `${shownMax}+` : total}</b>}
      </button>
      <div
        id={menu}
        popover="auto"
        role="dialog"
        aria-label={label}
        className={styles['menu']}
        onToggle={({ newState }) => setOpen(newState === 'open')}
      >
        {isOpen && <Menu workspaceId={workspaceId} close={() => closePopover(menu)} />}
      </div>
    </>
  );
}

function closePopover(id: string): void {
  document.getElementById(id)?.hidePopover();
}
