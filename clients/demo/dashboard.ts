// Dashboard of the demo: the campus at a glance, with values, charts, states, a map and the newest alarms.
import type { JsonObject } from '../../src/model/json.ts';
import { alarmTopic, coldStoreWord } from './alarm-rules.ts';
import { campusTimeZone } from '../../src/model/workspace.ts';
import type { Platform } from './platform.ts';
import type { DemoWorkspace } from './setup.ts';

const dashboardName = 'Campus';
const description = 'Air, energy, visitors and vans of the campus, and what needs attention';

/** Makes the dashboard unless one of its name is there. */
export async function setUpDashboard(platform: Platform, workspace: DemoWorkspace): Promise<void> {
  const { content } = await platform.get<{
    readonly content: readonly { readonly name: string }[];
  }>('/v3/dashboards', { workspaceId: workspace.id, size: '1000' });
  if (content.some(({ name }) => name === dashboardName)) return;
  await platform.post('/v3/dashboards', {
    name: dashboardName,
    description,
    workspaceId: workspace.id,
    configuration: {
      schema: 'heliograph-dashboard',
      version: 1,
      timeZone: campusTimeZone,
      range: { last: 'PT24H' },
      tiles: tilesOf(workspace),
    },
  });
}

interface Key {
  readonly folder: string;
  readonly dataKey: string;
  readonly topic?: string;
  readonly unit?: string;
  readonly accumulator?: string;
}

const co2Levels = [
  { from: 0, tone: 'OK', label: 'Fresh' },
  { from: 1_000, tone: 'WARNING', label: 'Stuffy' },
  { from: 1_400, tone: 'BAD', label: 'Bad' },
];
const coldLevels = [
  { from: -10, tone: 'OK', label: 'Cold' },
  { from: 5, tone: 'WARNING', label: 'Warming' },
  { from: 8, tone: 'BAD', label: 'Too warm' },
];

function tilesOf({ id, devices }: DemoWorkspace): JsonObject[] {
  const celsius = { dataKey: 'temperature', unit: '°C' };
  const room = { folder: 'room-climate', ...celsius };
  const air = { folder: 'air-quality', dataKey: 'co2', unit: 'ppm' };
  const power = { folder: 'energy-meter', dataKey: 'activePower', unit: 'kW' };
  const people = { folder: 'people-counter', dataKey: 'occupancy', unit: 'people' };
  const van = { folder: 'asset-tracker', dataKey: 'latitude', topic: 'location' };
  const leak = { folder: 'leak-detector', dataKey: 'leak' };
  const bay = { folder: 'parking-bay', dataKey: 'occupied' };
  const alarm = { topic: alarmTopic, dataKey: 'message' };
  /** The key of each device of the kind with one of the words in its name, such as "Room 1". */
  function of({ folder, ...key }: Key, words: readonly string[] = ['']): JsonObject[] {
    return devices
      .filter(({ kind, device }) => {
        return kind.folder === folder && words.some((word) => device.name.includes(word));
      })
      .map(({ id: deviceId, device }) => ({ deviceId, label: labelOf(device.name), ...key }));
  }
  const offices = ['Reception', 'Open Office'];
  return [
    tile('value', 'Outside', [0, 0, 3, 2], of({ folder: 'weather-station', ...celsius })),
    {
      ...tile('value', 'Cold store', [3, 0, 3, 2], of(room, [coldStoreWord])),
      thresholds: coldLevels,
    },
    {
      ...tile('value', 'Auditorium', [6, 0, 3, 2], of(air, ['Auditorium'])),
      thresholds: co2Levels,
    },
    tile('value', 'Building A', [9, 0, 3, 2], of(power, ['Building A'])),
    tile('line', 'Office temperatures', [0, 2, 6, 5], of(room, offices)),
    tile('line', 'Power', [6, 2, 6, 5], of(power)),
    tile('map', 'Vans', [0, 7, 6, 6], of(van)),
    tile('state', 'Water on the floor', [6, 7, 3, 3], of(leak)),
    { ...tile('state', 'CO₂', [9, 7, 3, 3], of(air)), thresholds: co2Levels },
    tile(
      'table',
      'Newest alarms',
      [6, 10, 6, 3],
      [
        ...of({ ...alarm, folder: 'leak-detector' }),
        ...of({ ...alarm, folder: 'room-climate' }, [coldStoreWord]),
      ],
    ),
    tile('bar', 'People inside', [0, 13, 6, 5], of(people)),
    tile('state', 'Parking', [6, 13, 3, 5], of(bay)),
    {
      ...tile('text', 'About', [9, 13, 3, 5]),
      text: `Simulated devices send raw payloads through real decoders. [Alarms](/w/${id}/alarms) shows what the rules raised.`,
    },
  ];

  function tile(
    kind: string,
    title: string,
    [x, y, width, height]: readonly [number, number, number, number],
    series?: JsonObject[],
  ): JsonObject {
    return {
      id: title.toLowerCase().replaceAll(' ', '-'),
      kind,
      title,
      x,
      y,
      width,
      height,
      ...(series !== undefined && { series }),
    };
  }
}

/** Only the place, because the title of the tile says what is measured there. */
function labelOf(name: string): string {
  return name.replace(
    /^(Room Climate|Air Quality|Energy Meter|People Counter|Leak Detector|Parking Bay|Tracker) /,
    '',
  );
}
