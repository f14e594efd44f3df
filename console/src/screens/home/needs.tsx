// Needs attention: what is wrong, the worst first.
import { Link } from '@tanstack/react-router';
import { BatteryLow, CircleCheck, FileWarning, Send, ShieldX, WifiOff } from 'lucide-react';
import type { ReactNode } from 'react';
import { Ago } from '../../ui/ago.tsx';
import { Card } from '../../ui/card.tsx';
import { Chip } from '../../ui/chip.tsx';
import { late } from '../../ui/late.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import type { OutputItem } from '../outputs/output-requests.ts';
import { DeviceLink } from './arriving.tsx';
import { homeWords } from './home-words.ts';
import styles from './home.module.css';
import { openAlarms, type Overview, useRefusals } from './overview.ts';

// Only a workspace with something wrong loads these.
const AlarmNeeds = late('AlarmNeeds', async () => (await import('./alarm-needs.tsx')).AlarmNeeds);
const FailureReason = late(
  'FailureReason',
  async () => (await import('../outputs/delivery-state.tsx')).FailureReason,
);

interface Need {
  readonly key: string;
  readonly icon: ReactNode;
  readonly what: ReactNode;
  readonly much: ReactNode;
}

interface NeedsProps {
  readonly overview: Overview;
  readonly failing: readonly OutputItem[];
  readonly workspaceId: string;
}

export function Needs({ overview, failing, workspaceId }: NeedsProps) {
  const words = useWords(homeWords);
  const { count, percent } = useFormats();
  const needs = [
    ...failing.map(({ id, name, health }) => ({
      key: `output ${id}`,
      icon: <Send className="bad" aria-hidden="true" />,
      what: (
        <span>
          <Link
            to="/w/$workspaceId/outputs/$outputId/deliveries"
            params={{ workspaceId, outputId: id }}
          >
            {words.failingOutput(name)}
          </Link>{' '}
          <FailureReason outputId={id} />
        </span>
      ),
      much: words.waiting(count(health?.deliveries.waiting ?? 0)),
    })),
    ...useRefusals(workspaceId).map(({ id, connectorId, deviceId, last }) => ({
      key: `refused ${id}`,
      icon: <ShieldX className="warn" aria-hidden="true" />,
      what: (
        <Link
          to="/w/$workspaceId/flows/connectors/$connectorId"
          params={{ workspaceId, connectorId }}
        >
          {deviceId === null ? words.refusedSender : words.refused(deviceId)}
        </Link>
      ),
      much: <Ago at={last} />,
    })),
    ...useWorkspaceNeeds(overview, workspaceId),
    ...overview.stoppedReports.map(({ id, name, dashboardId, reason }) => ({
      key: `report ${id}`,
      icon: <FileWarning className="warn" aria-hidden="true" />,
      what:
        reason === 'DASHBOARD_DELETED' ? (
          <Link to="/w/$workspaceId/dashboards" params={{ workspaceId }}>
            {words.stoppedReport(name)}
          </Link>
        ) : (
          <Link to="/w/$workspaceId/dashboards/$dashboardId" params={{ workspaceId, dashboardId }}>
            {words.stoppedReport(name)}
          </Link>
        ),
      much: '',
    })),
    ...overview.silent
      .filter(({ online }) => !online)
      .map(({ id, name, lastUplink }) => ({
        key: `silent ${id}`,
        icon: <WifiOff className="bad" aria-hidden="true" />,
        what: (
          <DeviceLink id={id} workspaceId={workspaceId}>
            {words.silent(name)}
          </DeviceLink>
        ),
        much: <Ago at={lastUplink} />,
      })),
    ...overview.lowBattery.map(({ id, name, batteryLevel }) => ({
      key: `battery ${id}`,
      icon: <BatteryLow className="warn" aria-hidden="true" />,
      what: (
        <DeviceLink id={id} workspaceId={workspaceId}>
          {words.lowBattery(name)}
        </DeviceLink>
      ),
      much: percent(batteryLevel),
    })),
  ];
  const alarms = openAlarms(overview);
  const many = alarms + needs.length;
  return (
    <Card title={words.needs} actions={many > 0 && <Chip>{count(many)}</Chip>}>
      <ul className={styles['needs']}>
        {alarms > 0 && <AlarmNeeds workspaceId={workspaceId} many={alarms} />}
        {needs.map(({ key, icon, what, much }) => (
          <li key={key}>
            {icon}
            {what}
            <span className="faint num">{much}</span>
          </li>
        ))}
        {many === 0 && (
          <li className="mute">
            <CircleCheck className="ok" aria-hidden="true" />
            {words.nothing}
          </li>
        )}
      </ul>
    </Card>
  );
}

/** What concerns the workspace as a whole. */
function useWorkspaceNeeds({ deliveries, scriptErrors }: Overview, workspaceId: string): Need[] {
  const words = useWords(homeWords);
  const { count } = useFormats();
  const rows = [
    {
      key: 'failed',
      icon: <Send className="bad" aria-hidden="true" />,
      what: (
        <Link to="/w/$workspaceId/outputs" params={{ workspaceId }}>
          {words.failed}
        </Link>
      ),
      many: deliveries.failed,
    },
    {
      key: 'scripts',
      icon: <FileWarning className="warn" aria-hidden="true" />,
      what: (
        <Link to="/w/$workspaceId/activity" params={{ workspaceId }}>
          {words.scripts}
        </Link>
      ),
      many: scriptErrors,
    },
  ];
  return rows
    .filter(({ many }) => many > 0)
    .map(({ many, ...row }) => ({ ...row, much: count(many) }));
}
