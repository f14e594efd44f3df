// Words of maps: controls, states, scale and notes.
import { plural, wordSet } from '../words/word-set.ts';

export const mapWords = wordSet(
  {
    map: (count: string) => `Map of ${count}`,
    devices: (shown: string, count: number) => `${shown} ${plural(count, 'device', 'devices')}`,
    help: 'The arrow keys move the map, plus and minus zoom, 0 shows all devices. The devices are also in the list.',
    zoomIn: 'Zoom in',
    zoomOut: 'Zoom out',
    fit: 'Show all devices',
    natural: 'Made with Natural Earth. No request leaves this server.',
    grid: 'No streets: the operator of this installation can set MAP_TILES_URL.',
    legend: 'States',
    states: { online: 'Online', silent: 'Offline', never: 'Never seen' },
    meters: (count: string) => `${count} m`,
    kilometers: (count: string) => `${count} km`,
    noOutline: 'The outline could not be loaded.',
    noTiles: 'The street map could not be loaded.',
    noPosition: 'None of these devices has told its position yet.',
  },
  {
    map: (count: string) => `Karte mit ${count}`,
    devices: (shown: string, count: number) => `${shown} ${plural(count, 'Gerät', 'Geräten')}`,
    help: 'Die Pfeiltasten verschieben die Karte, Plus und Minus vergrößern und verkleinern, 0 zeigt alle Geräte. Die Geräte stehen auch in der Liste.',
    zoomIn: 'Vergrößern',
    zoomOut: 'Verkleinern',
    fit: 'Alle Geräte zeigen',
    natural: 'Mit Natural Earth gemacht. Keine Anfrage verlässt diesen Server.',
    grid: 'Ohne Straßen: Der Betreiber dieser Installation kann MAP_TILES_URL setzen.',
    legend: 'Zustände',
    states: { online: 'Online', silent: 'Offline', never: 'Nie gesehen' },
    meters: (count: string) => `${count} m`,
    kilometers: (count: string) => `${count} km`,
    noOutline: 'Der Umriss konnte nicht geladen werden.',
    noTiles: 'Die Straßenkarte konnte nicht geladen werden.',
    noPosition: 'Keines dieser Geräte hat bisher seine Position gemeldet.',
  },
);
