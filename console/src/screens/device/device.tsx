// Device: its name, state and last contact above all its pages, which share its samples.
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useParams, useSearch } from '@tanstack/react-router';
import { Ago } from '../../ui/ago.tsx';
import { Chip, Dot, type DotTone, type Tone } from '../../ui/chip.tsx';
import { Tabs } from '../../ui/choice.tsx';
import { CopyButton, CurlButton } from '../../ui/copy-button.tsx';
import { late } from '../../ui/late.tsx';
import { Page } from '../../ui/page.tsx';
import { usePreferences } from '../../ui/preferences.ts';
import { Bone, Failure } from '../../ui/states.tsx';
import { useFormats, usePageZone, useWords } from '../../words/language.tsx';
import { type Device as DeviceRecord, deviceQuery, useStoredState } from './data/device-queries.ts';
import { type SampleFeed, useSampleFeed } from './data/sample-feed.ts';
import { DeviceFrameProvider, useZones, zoneShown } from './device-frame.ts';
import { deviceRoute } from './device-search.ts';
import { deviceWords } from './device-words.ts';

const Why = late('Why', async () => (await import('../why/why.tsx')).Why);

const address = '/w/$workspaceId/devices/$deviceId';
const pageNames = [
  'overview',
  'dashboard',
  'explore',
  'live',
  'uplinks',
  'log',
  'commands',
  'settings',
] as const;

export function Device() {
  const { deviceId } = useParams({ from: deviceRoute });
  // State of one device must not be seen under another.
  return <DevicePages key={deviceId} deviceId={deviceId} />;
}

function DevicePages({ deviceId }: { readonly deviceId: string }) {
  const words = useWords(deviceWords);
  const answer = useQuery(deviceQuery(deviceId));
  const feed = useSampleFeed(deviceId);
  const { workspaceId } = useParams({ from: deviceRoute });
  const device = answer.data;
  const path = `/v3/devices/${deviceId}`;
  const devicesLink = (
    <Link to="/w/$workspaceId/devices" params={{ workspaceId }}>
      {words.devices}
    </Link>
  );
  const isLost = device === undefined && answer.error !== null;
  return (
    <Page
      title={device?.name ?? <NoName isLost={isLost} />}
      name={device?.name ?? words.device}
      path={[devicesLink, device?.name ?? '…']}
      lead={device === undefined ? undefined : <State device={device} feed={feed} />}
      actions={
        <>
          <Why workspaceId={workspaceId} deviceId={deviceId} />
          <CurlButton request={{ path }} />
        </>
      }
    >
      {isLost ? (
        <Failure error={answer.error} retry={() => void answer.refetch()} curl={{ path }} />
      ) : (
        <PageLinks />
      )}
      {device !== undefined && <Framed device={device} feed={feed} />}
    </Page>
  );
}

function NoName({ isLost }: { readonly isLost: boolean }) {
  const words = useWords(deviceWords);
  if (isLost) return words.device;
  return (
    <>
      <span className="sr">{words.device}</span>
      <Bone width="12em" />
    </>
  );
}

function PageLinks() {
  const words = useWords(deviceWords);
  const params = useParams({ from: deviceRoute });
  const { tz } = useSearch({ from: deviceRoute });
  const tabs = pageNames.map((name) => ({
    label: words.tabs[name],
    link: { to: `${address}/${name}`, params, search: tz === undefined ? {} : { tz } } as const,
  }));
  return <Tabs label={words.pages} tabs={tabs} />;
}

interface OfDevice {
  readonly device: DeviceRecord;
  readonly feed: SampleFeed;
}

function Framed({ device, feed }: OfDevice) {
  const { tz } = useSearch({ from: deviceRoute });
  const zones = useZones(device);
  const preferred = usePreferences()?.zone;
  const zoneName = zoneShown(zones, tz ?? preferred);
  const zone = zones[zoneName] ?? 'UTC';
  usePageZone(zone);
  return (
    <DeviceFrameProvider value={{ device, feed, zones, zoneName, zone }}>
      <Outlet />
    </DeviceFrameProvider>
  );
}

const tones: Readonly<Record<DeviceRecord['onlineState'], { chip: Tone; dot: DotTone }>> = {
  ONLINE: { chip: 'ok', dot: 'ok' },
  OFFLINE: { chip: 'bad', dot: 'bad' },
  UNKNOWN: { chip: 'plain', dot: 'off' },
  DE_REGISTERED: { chip: 'warn', dot: 'warn' },
};

function State({ device, feed }: OfDevice) {
  const words = useWords(deviceWords);
  const formats = useFormats();
  const heardLive = feed.rows.find(({ isLive }) => isLive)?.sample.timestamp;
  const heard = later(device.uplinkMetrics?.timestamp, heardLive);
  // A sample is proof enough; the record is asked for again only after a while.
  const isHeardNow = heardLive !== undefined && device.onlineState !== 'DE_REGISTERED';
  const state = isHeardNow && heard === heardLive ? 'ONLINE' : device.onlineState;
  const stored = useStoredState(device);
  const reason =
    state === 'UNKNOWN' && stored !== undefined
      ? words.historyUpTo(formats.day(stored.lastData))
      : words.reasons[state](formats.duration(device.onlineTimeout));
  const type = device.dataFlow.deviceType?.name;
  return (
    <>
      <Chip tone={tones[state].chip}>
        <Dot tone={tones[state].dot} beat={feed.liveCount} />
        {words.states[state]}
      </Chip>
      {heard !== undefined && (
        <span>
          {words.heard} <Ago at={heard} />
        </span>
      )}
      <span className="faint" data-apart>
        {reason}
      </span>
      {type !== undefined && <span data-apart>{type}</span>}
      <span className="mono faint" data-apart>
        {device.deviceId}
      </span>
      <CopyButton content={device.id} label={words.copyId} />
    </>
  );
}

function later(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Date.parse(a) > Date.parse(b) ? a : b;
}
