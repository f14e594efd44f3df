// Hit places: where the console shows a record that the search found, and its picture.
import {
  Boxes,
  Cable,
  Cpu,
  FileCode2,
  FileDown,
  Filter,
  FolderClosed,
  KeyRound,
  LayoutDashboard,
  ListPlus,
  type LucideIcon,
  Plug,
  RadioTower,
  SquareFunction,
  Tag,
  UserRound,
  Waypoints,
  Zap,
} from 'lucide-react';
import type { components } from '../../../generated/interface-types.ts';
import { encodeFilter } from '../../screens/devices/device-search.ts';

export type Hit = components['schemas']['SearchHit'];
export type HitKind = Hit['kind'];

interface HitPlace {
  readonly icon: LucideIcon;
  /** Addresses, the best first; the first one that is a page of this console counts. */
  readonly paths: (hit: Hit, place: Around) => readonly string[];
}

/** What an address needs besides the record. */
interface Around {
  readonly organizationId: string;
  readonly workspaceId: string;
}

const below = (page: string) => (hit: Hit, place: Around) => {
  const base = `/w/${hit.workspaceId ?? place.workspaceId}/${page}`;
  return [`${base}/${hit.id}`, base];
};
const ofOrganization = (page: string) => (_hit: Hit, place: Around) => [
  `/o/${place.organizationId}/settings/${page}`,
];

export const hitPlaces: Readonly<Record<HitKind, HitPlace>> = {
  DEVICE: { icon: Cpu, paths: below('devices') },
  TAG: { icon: Tag, paths: taggedDevices },
  CUSTOM_FIELD: { icon: ListPlus, paths: below('settings/fields') },
  DEVICE_TYPE: { icon: FileCode2, paths: below('types') },
  DATA_FLOW: { icon: Waypoints, paths: below('flows') },
  DEVICE_CONNECTOR: {
    icon: Plug,
    paths: (hit, place) => [
      ...below('flows/connectors')(hit, place),
      ...below('flows')(hit, place).slice(1),
    ],
  },
  OUTPUT_CONNECTOR: { icon: Cable, paths: below('outputs') },
  INTEGRATION: {
    icon: RadioTower,
    paths: (hit, place) => [
      ...below('flows/integrations')(hit, place),
      ...below('flows')(hit, place).slice(1),
    ],
  },
  RULE: { icon: Zap, paths: below('rules') },
  CUSTOM_LOGIC: {
    icon: SquareFunction,
    paths: (hit, place) => [...below('rules/logic')(hit, place), ...below('logic')(hit, place)],
  },
  DASHBOARD: { icon: LayoutDashboard, paths: below('dashboards') },
  DASHBOARD_GROUP: {
    icon: FolderClosed,
    paths: (hit, place) => below('dashboards')(hit, place).slice(1),
  },
  VIEW: {
    icon: Filter,
    paths: (hit, place) => [
      `/w/${hit.workspaceId ?? place.workspaceId}/devices?view=%22${hit.id}%22`,
    ],
  },
  BLOB: { icon: FileDown, paths: () => [] },
  WORKSPACE: { icon: Boxes, paths: ({ id }) => [`/w/${id}`] },
  MEMBER: { icon: UserRound, paths: ofOrganization('members') },
  API_KEY: { icon: KeyRound, paths: ofOrganization('keys') },
  OAUTH_CLIENT: {
    icon: KeyRound,
    paths: (hit, place) => [
      ...ofOrganization('clients')(hit, place),
      ...ofOrganization('keys')(hit, place),
    ],
  },
};

function taggedDevices({ id, workspaceId }: Hit, place: Around): readonly string[] {
  const filter = encodeFilter({ field: 'tags.id', predicate: 'CONTAINS_ANY', values: [id] });
  return [`/w/${workspaceId ?? place.workspaceId}/devices?filter=${filter}`];
}
