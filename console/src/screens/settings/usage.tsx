// Usage: what this workspace stores and receives, by workspace and device type, and the quotas.
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { Card, Sheet } from '../../ui/card.tsx';
import { type DataColumn, DataTable, TableSkeleton } from '../../ui/data-table.tsx';
import { Spark } from '../../ui/spark.tsx';
import { Answered, Bone, Empty } from '../../ui/states.tsx';
import { overviewOf } from '../../session/first-run.ts';
import { useAccount } from '../../session/session.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { SettingsFrame, useSettingsWorkspace } from './settings-frame.tsx';
import { settingsWords } from './settings-words.ts';
import styles from './settings.module.css';

type Usage = components['schemas']['Usage'];

export function Usage() {
  const { organizationId } = useAccount();
  const curl = { path: `/v3/usage?organizationId=${organizationId}` };
  const usage = useQuery(usageOf(organizationId));
  return (
    <SettingsFrame tab="usage" curl={() => curl}>
      <Figures usage={usage.data} />
      <Answered
        answer={usage}
        curl={curl}
        skeleton={
          <Sheet>
            <TableSkeleton />
          </Sheet>
        }
      >
        {(data) => (
          <>
            <ByWorkspace usage={data} />
            <ByType />
            {data.quotas !== undefined && <Quotas quotas={data.quotas} />}
          </>
        )}
      </Answered>
    </SettingsFrame>
  );
}

function Figures({ usage }: { readonly usage: Usage | undefined }) {
  const words = useWords(settingsWords);
  const { short, bytes, count } = useFormats();
  const workspaceId = useSettingsWorkspace();
  const overview = useQuery(overviewOf(workspaceId)).data;
  const own = usage?.content.find((one) => one.workspaceId === workspaceId);
  const perMinute = overview?.samplesPerMinute.slice(0, -1) ?? [];
  const ofHour = perMinute.reduce((sum, one) => sum + one, 0);
  return (
    <dl className={styles['figures']}>
      <Figure label={words.samples} value={own && short(own.samples)} />
      <Figure label={words.space} value={own && bytes(own.bytes)} />
      <Figure label={words.devices} value={overview && count(overview.devices.total)} />
      <Figure label={words.lastHour} value={overview && short(ofHour)}>
        <Spark points={perMinute} />
      </Figure>
    </dl>
  );
}

interface FigureProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly children?: ReactNode;
}

function Figure({ label, value, children }: FigureProps) {
  return (
    <div className={styles['figure']}>
      <dt>{label}</dt>
      <dd>
        {value ?? <Bone width="3em" />}
        {children}
      </dd>
    </div>
  );
}

function ByWorkspace({ usage }: { readonly usage: Usage }) {
  const words = useWords(settingsWords);
  const { short, bytes } = useFormats();
  const workspaceId = useSettingsWorkspace();
  const most = (key: 'samples' | 'bytes') =>
    usage.content.reduce((max, one) => Math.max(max, one[key]), 0);
  const columns: readonly DataColumn<Usage['content'][number]>[] = [
    {
      key: 'name',
      header: words.workspace,
      cell: (one) =>
        one.workspaceId === workspaceId ? (
          <b>{one.name}</b>
        ) : (
          <Link to="/w/$workspaceId/settings/usage" params={{ workspaceId: one.workspaceId }}>
            {one.name}
          </Link>
        ),
    },
    {
      key: 'samples',
      header: words.samples,
      cell: ({ samples }) => (
        <Amount value={samples} most={most('samples')} shown={short(samples)} />
      ),
    },
    {
      key: 'bytes',
      header: words.space,
      cell: (one) => <Amount value={one.bytes} most={most('bytes')} shown={bytes(one.bytes)} />,
    },
  ];
  const rows = usage.content.toSorted((a, b) => b.bytes - a.bytes);
  const { total } = usage;
  return (
    <Card
      title={words.byWorkspace}
      note={words.inAll(total.samples, short(total.samples), bytes(total.bytes))}
    >
      <DataTable
        label={words.tableOf(words.byWorkspace)}
        columns={columns}
        rows={rows}
        keyOf={(one) => one.workspaceId}
      />
    </Card>
  );
}

function ByType() {
  const words = useWords(settingsWords);
  const { count } = useFormats();
  const workspaceId = useSettingsWorkspace();
  const types = useQuery(typeUsageOf(workspaceId));
  return (
    <Card title={words.byType} note={words.byTypeNote}>
      <Answered answer={types} skeleton={<TableSkeleton rows={2} />}>
        {(rows) => {
          const most = rows[0]?.devices ?? 0;
          const columns: readonly DataColumn<TypeUsage>[] = [
            {
              key: 'name',
              header: words.deviceType,
              cell: ({ typeId, name }) => (
                <Link to="/w/$workspaceId/types/$typeId" params={{ workspaceId, typeId }}>
                  {name}
                </Link>
              ),
            },
            {
              key: 'devices',
              header: words.devices,
              cell: ({ devices }) => <Amount value={devices} most={most} shown={count(devices)} />,
            },
          ];
          if (rows.length === 0) return <Empty title={words.noTypes} />;
          return (
            <DataTable
              label={words.tableOf(words.byType)}
              columns={columns}
              rows={rows}
              keyOf={({ typeId }) => typeId}
            />
          );
        }}
      </Answered>
    </Card>
  );
}

function Quotas({ quotas }: { readonly quotas: NonNullable<Usage['quotas']> }) {
  const words = useWords(settingsWords);
  const { short } = useFormats();
  const counted = quotas.filter(({ used }) => used !== null);
  const columns: readonly DataColumn<(typeof quotas)[number]>[] = [
    {
      key: 'limit',
      header: words.limit,
      cell: ({ limit }) => <code className="mono">{limit}</code>,
    },
    { key: 'max', header: words.allowed, cell: ({ max }) => short(max) },
    {
      key: 'used',
      header: words.used,
      cell: ({ used, max }) => (
        <Amount value={used ?? 0} most={max} shown={short(used ?? 0)} isLimited />
      ),
    },
  ];
  return (
    <Card title={words.quotas} note={words.quotasNote}>
      <DataTable
        label={words.tableOf(words.quotas)}
        columns={columns}
        rows={counted}
        keyOf={({ limit, per }) => `${limit} ${per}`}
      />
    </Card>
  );
}

// Amount: a figure with a bar that compares it with the greatest of its column.

interface AmountProps {
  readonly value: number;
  /** What a whole bar is. */
  readonly most: number;
  readonly shown: string;
  /** The greatest is a limit, so that a nearly full bar is a warning. */
  readonly isLimited?: boolean;
}

const nearlyFull = 0.9;

function Amount({ value, most, shown, isLimited = false }: AmountProps) {
  const share = most === 0 ? 0 : value / most;
  return (
    <span className={styles['amount']}>
      {shown}
      <span
        className={styles['share']}
        data-is-full={isLimited && share > nearlyFull}
        style={{ width: `${Math.min(share, 1) * 100}%` }}
        aria-hidden="true"
      />
    </span>
  );
}

// Usage requests: stored samples by workspace with the quotas, and devices by type.

const refreshMs = 60_000;

const usageOf = (organizationId: string) =>
  queryOptions({
    queryKey: ['usage', organizationId],
    refetchInterval: refreshMs,
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/usage', { signal, params: { query: { organizationId } } })),
  });

interface TypeUsage {
  /** Empty for devices without a type. */
  readonly typeId: string;
  readonly name: string;
  readonly devices: number;
}

const flowsMax = 1_000;
const typesMax = 20;

/**
 * Devices of a workspace by device type, the most first, at most 20 types; a type is counted by one
 * request, which reads no device.
 */
const typeUsageOf = (workspaceId: string) =>
  queryOptions({
    queryKey: ['type usage', workspaceId],
    queryFn: async ({ signal }): Promise<readonly TypeUsage[]> => {
      const query = { workspaceId, size: flowsMax, fields: 'id,deviceType' };
      const flows = await ask(platform.GET('/v3/data-flows', { signal, params: { query } }));
      const names = new Map(
        flows.content.flatMap(({ deviceType }) =>
          deviceType === null ? [] : [[deviceType.id, deviceType.name] as const],
        ),
      );
      const counted = await Promise.all(
        [...names].slice(0, typesMax).map(async ([typeId, name]) => {
          const expression = {
            field: 'deviceType',
            predicate: 'EQUALS' as const,
            values: [typeId],
          };
          const body = { workspaceIds: [workspaceId], expression };
          const params = { query: { size: 1, fields: 'id' } };
          const found = await ask(platform.POST('/v3/assets/list', { signal, params, body }));
          return { typeId, name, devices: found.totalElements };
        }),
      );
      return counted
        .filter(({ devices }) => devices > 0)
        .toSorted((a, b) => b.devices - a.devices || a.name.localeCompare(b.name));
    },
  });
