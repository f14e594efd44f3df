// Words of maps: controls, states, scale and notes.
import { plural, wordSet } from '../words/word-set.ts';

export const mapWords = wordSet(
  {
    map: (count: string) => `Map of ${count}`,
    devices: (shown: string, count: number) => `${shown} ${plural(count, 'device', 'devices')}`,
    help: 'Use the arrow keys to pan, + and − to zoom, and 0 to fit all devices. The list contains the same devices.',
    zoomIn: 'Zoom in',
    zoomOut: 'Zoom out',
    fit: 'Fit all devices',
    natural: 'Map data: Natural Earth, served from this installation.',
    grid: 'No street map. The operator of this installation can set MAP_TILES_URL.',
    legend: 'Status',
    states: { online: 'Online', silent: 'Offline', never: 'Never seen' },
    meters: (count: string) => `${count} m`,
    kilometers: (count: string) => `${count} km`,
    noOutline: "Couldn't load the map outline",
    noTiles: "Couldn't load map tiles",
    noPosition: 'No device has reported a position',
  },
  {
    map: (count: string) => `Karte mit ${count}`,
    devices: (shown: string, count: number) => `${shown} ${plural(count, 'Gerät', 'Geräten')}`,
    help: 'Mit den Pfeiltasten verschieben, mit + und − zoomen, mit 0 alle Geräte anzeigen. Die Liste enthält dieselben Geräte.',
    zoomIn: 'Vergrößern',
    zoomOut: 'Verkleinern',
    fit: 'Alle Geräte anzeigen',
    natural: 'Kartendaten: Natural Earth, von dieser Installation bereitgestellt.',
    grid: 'Keine Straßenkarte. Der Betreiber dieser Installation kann MAP_TILES_URL setzen.',
    legend: 'Status',
    states: { online: 'Online', silent: 'Offline', never: 'Nie gesehen' },
    meters: (count: string) => `${count} m`,
    kilometers: (count: string) => `${count} km`,
    noOutline: 'Der Kartenumriss konnte nicht geladen werden',
    noTiles: 'Die Kartenkacheln konnten nicht geladen werden',
    noPosition: 'Kein Gerät hat eine Position gemeldet',
  },
);
