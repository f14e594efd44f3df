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
    grid: 'No street map. Choose one in the workspace settings.',
    vector: "The map file has vector tiles, which the console doesn't draw",
    showStreets: 'Show streets',
    streetsNote:
      'Tiles come from openstreetmap.org, which sees the addresses of your browsers and the area you look at. The choice applies to everyone in this workspace.',
    useOpenStreetMap: 'Use OpenStreetMap',
    useOwnTiles: 'Use our own tiles',
    notNow: 'Not now',
    legend: 'Status',
    states: { online: 'Online', silent: 'Offline', never: 'Never seen' },
    meters: (count: string) => `${count} m`,
    kilometers: (count: string) => `${count} km`,
    noOutline: "Couldn't load the map outline",
    noTiles: (host: string) =>
      host === '' ? "Couldn't load map tiles" : `Couldn't load map tiles from ${host}`,
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
    grid: 'Keine Straßenkarte. Wählen Sie eine in den Einstellungen des Arbeitsbereichs.',
    vector: 'Die Kartendatei hat Vektorkacheln, die die Konsole nicht zeichnet',
    showStreets: 'Straßen anzeigen',
    streetsNote:
      'Die Kacheln kommen von openstreetmap.org. Dieser Server sieht die Adressen Ihrer Browser und den gezeigten Ausschnitt. Die Wahl gilt für alle in diesem Arbeitsbereich.',
    useOpenStreetMap: 'OpenStreetMap verwenden',
    useOwnTiles: 'Eigene Kacheln verwenden',
    notNow: 'Nicht jetzt',
    legend: 'Status',
    states: { online: 'Online', silent: 'Offline', never: 'Nie gesehen' },
    meters: (count: string) => `${count} m`,
    kilometers: (count: string) => `${count} km`,
    noOutline: 'Der Kartenumriss konnte nicht geladen werden',
    noTiles: (host: string) =>
      host === ''
        ? 'Die Kartenkacheln konnten nicht geladen werden'
        : `Die Kartenkacheln von ${host} konnten nicht geladen werden`,
    noPosition: 'Kein Gerät hat eine Position gemeldet',
  },
);
