// Alarm needs: the newest open alarms of the home page, each acknowledged in place.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Check } from 'lucide-react';
import { acknowledgeAlarm } from '../../api/alarm-changes.ts';
import { type Alarm, alarmsKey, newestOpen } from '../../api/alarms.ts';
import { Ago } from '../../ui/ago.tsx';
import { Button } from '../../ui/button.tsx';
import { Severity } from '../../ui/severity.tsx';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useMay } from '../../session/permissions.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import styles from './home.module.css';
import { alarmNeedsWords } from './alarm-needs-words.ts';

/** Rows of a list; `many` is the number of open alarms. */
export function AlarmNeeds({ workspaceId, many }: { workspaceId: string; many: number }) {
  const words = useWords(alarmNeedsWords);
  const { count } = useFormats();
  const mayRead = useMay(workspaceId, 'rule', 'read');
  const { data } = useQuery({ ...newestOpen(workspaceId), enabled: mayRead });
  const shown = data?.content ?? [];
  return (
    <>
      {shown.map((alarm) => (
        <AlarmNeed key={alarm.id} alarm={alarm} />
      ))}
      {many > shown.length && (
        <li>
          <span />
          <Link to="/w/$workspaceId/alarms" params={{ workspaceId }}>
            {words.allAlarms(count(many))}
          </Link>
        </li>
      )}
    </>
  );
}

function AlarmNeed({ alarm }: { readonly alarm: Alarm }) {
  const words = useWords(alarmNeedsWords);
  const known = useQueryClient();
  const { id, name, severity, lastTriggered, workspaceId } = alarm;
  const acknowledge = useAction({
    mutationFn: () => acknowledgeAlarm(id),
    onSuccess: () => toast(words.acknowledged(name)),
    onError: toastFailure,
    onSettled: () => {
      void known.invalidateQueries({ queryKey: ['overview', workspaceId] });
      return known.invalidateQueries({ queryKey: alarmsKey(workspaceId) });
    },
  });
  return (
    <li>
      <Severity of={severity} isQuiet />
      <Link to="/w/$workspaceId/alarms/$alarmId" params={{ workspaceId, alarmId: id }} title={name}>
        {name}
      </Link>
      <span className={styles['acts']}>
        <span className="faint num">
          <Ago at={lastTriggered} />
        </span>
        <Button
          needs="rule: update"
          look="ghost"
          isIcon
          aria-label={words.acknowledge(name)}
          title={words.acknowledge(name)}
          disabled={acknowledge.isPending}
          onClick={() => acknowledge.mutate()}
        >
          <Check aria-hidden="true" />
        </Button>
      </span>
    </li>
  );
}
