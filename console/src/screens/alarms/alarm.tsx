// Alarm: what raised it, its life with comments, its values around that time, and who was notified.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Check, CircleCheckBig } from 'lucide-react';
import { useState } from 'react';
import { type Alarm, alarmOf } from '../../api/alarms.ts';
import { Ago } from '../../parts/ago.tsx';
import { Button } from '../../parts/button.tsx';
import { CurlButton } from '../../parts/curl-button.tsx';
import { Page } from '../../parts/page.tsx';
import { AlarmStateChip, Severity } from '../../parts/severity.tsx';
import { Bone, Failure } from '../../parts/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { AboutCard, ValuesCard } from './about-card.tsx';
import { ClearDialog } from './action-dialogs.tsx';
import { type AlarmActions, useAlarmActions } from './alarm-actions.ts';
import { AlarmChart } from './alarm-chart.tsx';
import styles from './alarms.module.css';
import { alarmsWords } from './alarms-words.ts';
import { LifeCard } from './life-card.tsx';
import { MessagesCard } from './messages-card.tsx';

const route = getRouteApi('/signed-in/shell/w/$workspaceId/alarms/$alarmId');

export function AlarmPage() {
  const words = useWords(alarmsWords);
  const { workspaceId, alarmId } = route.useParams();
  const { data: alarm, error, refetch } = useQuery(alarmOf(workspaceId, alarmId));
  const actions = useAlarmActions(workspaceId);
  const path = `/v3/alarms/${alarmId}`;
  const name = alarm?.name ?? words.name;
  const back = (
    <Link key="alarms" to="/w/$workspaceId/alarms" params={{ workspaceId }}>
      {words.title}
    </Link>
  );
  return (
    <Page
      title={alarm === undefined && error === null ? <Bone width="12em" /> : name}
      name={name}
      path={[back, name]}
      lead={alarm === undefined ? <Bone width="16em" /> : <Lead alarm={alarm} />}
      actions={
        <>
          <CurlButton request={{ path }} />
          {alarm !== undefined && <Actions alarm={alarm} actions={actions} />}
        </>
      }
    >
      {alarm === undefined && error !== null && (
        <Failure error={error} retry={() => void refetch()} curl={{ path }} />
      )}
      {alarm !== undefined && (
        <div className={styles['columns']}>
          <div className={styles['column']}>
            <AlarmChart alarm={alarm} />
            <LifeCard alarm={alarm} actions={actions} />
          </div>
          <div className={styles['column']}>
            <AboutCard alarm={alarm} />
            <ValuesCard alarm={alarm} />
            <MessagesCard alarm={alarm} />
          </div>
        </div>
      )}
    </Page>
  );
}

function Lead({ alarm }: { readonly alarm: Alarm }) {
  const words = useWords(alarmsWords);
  const { count } = useFormats();
  const { severity, state, firstTriggered, count: times } = alarm;
  return (
    <>
      <Severity of={severity} />
      <AlarmStateChip of={state} />
      <span>
        {words.opened} <Ago at={firstTriggered} />
        {times > 1 && ` · ${words.countedTimes(count(times))}`}
      </span>
    </>
  );
}

interface ActionsProps {
  readonly alarm: Alarm;
  readonly actions: AlarmActions;
}

function Actions({ alarm, actions }: ActionsProps) {
  const words = useWords(alarmsWords);
  const [isClearing, setClearing] = useState(false);
  if (alarm.state === 'CLEARED') return null;
  return (
    <>
      <Button needs="rule: update" aria-keyshortcuts="y" onClick={() => setClearing(true)}>
        <CircleCheckBig aria-hidden="true" />
        {words.clear}
      </Button>
      {alarm.state === 'OPEN' && (
        <Button
          needs="rule: update"
          look="primary"
          aria-keyshortcuts="e"
          onClick={() => void actions.acknowledge(alarm)}
        >
          <Check aria-hidden="true" />
          {words.acknowledge}
        </Button>
      )}
      {isClearing && (
        <ClearDialog
          what={alarm.name}
          close={() => setClearing(false)}
          act={(reason) => void actions.clear(alarm, reason)}
        />
      )}
    </>
  );
}
