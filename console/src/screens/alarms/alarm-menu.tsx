// Alarm menu of the bell: the newest open alarms, each with a link and a button that acknowledges it.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Check, CircleCheck } from 'lucide-react';
import { type Alarm, newestOpen } from '../../api/alarms.ts';
import { Ago } from '../../ui/ago.tsx';
import { Button } from '../../ui/button.tsx';
import { Severity } from '../../ui/severity.tsx';
import { useWords } from '../../words/language.tsx';
import { useAlarmActions } from './alarm-actions.ts';
import styles from './alarms.module.css';
import { alarmsWords } from './alarms-words.ts';

interface AlarmMenuProps {
  readonly workspaceId: string;
  readonly close: () => void;
}

export function AlarmMenu({ workspaceId, close }: AlarmMenuProps) {
  const words = useWords(alarmsWords);
  const alarms = useQuery(newestOpen(workspaceId)).data?.content ?? [];
  const actions = useAlarmActions(workspaceId);
  return (
    <>
      <ul className={styles['menu']}>
        {alarms.map((alarm) => (
          <MenuRow
            key={alarm.id}
            alarm={alarm}
            close={close}
            acknowledge={() => void actions.acknowledge(alarm)}
          />
        ))}
        {alarms.length === 0 && (
          <li className="mute">
            <CircleCheck aria-hidden="true" />
            {words.emptyOpen}
          </li>
        )}
      </ul>
      <p className={styles['more']}>
        <Link to="/w/$workspaceId/alarms" params={{ workspaceId }} onClick={close}>
          {words.allAlarms}
        </Link>
      </p>
    </>
  );
}

interface MenuRowProps {
  readonly alarm: Alarm;
  readonly close: () => void;
  readonly acknowledge: () => void;
}

function MenuRow({ alarm, close, acknowledge }: MenuRowProps) {
  const words = useWords(alarmsWords);
  const { id, name, severity, device, lastTriggered, workspaceId } = alarm;
  return (
    <li>
      <Severity of={severity} isQuiet />
      <span>
        <Link
          to="/w/$workspaceId/alarms/$alarmId"
          params={{ workspaceId, alarmId: id }}
          onClick={close}
        >
          {name}
        </Link>
        <small>
          {device !== null && `${device.name} · `}
          <Ago at={lastTriggered} />
        </small>
      </span>
      <Button
        needs="rule: update"
        look="ghost"
        isIcon
        aria-label={words.acknowledgeOne(name)}
        title={words.acknowledge}
        onClick={acknowledge}
      >
        <Check aria-hidden="true" />
      </Button>
    </li>
  );
}
