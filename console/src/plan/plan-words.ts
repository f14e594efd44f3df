// Words of a plan: its keys, its legend, and the buttons that zoom.
import { plural, wordSet } from '../words/word-set.ts';

export const planWords = wordSet(
  {
    plan: (devices: string, many: number) =>
      plural(many, 'Plan, 1 device', `Plan, ${devices} devices`),
    help: 'Arrow keys move the plan, + and - zoom, 0 shows all of it.',
    moveHelp:
      'Arrow keys move the selected device, with Shift in larger steps. Escape ends the selection.',
    zoomIn: 'Zoom in',
    zoomOut: 'Zoom out',
    fit: 'Show whole plan',
    estimated: 'estimated between devices',
    scale: (low: string, high: string) => `Colors from ${low} to ${high}`,
    picture: 'Plan',
    colorBy: 'Color by',
    colorByState: 'State',
    noPicture: 'The picture of the plan could not be loaded',
  },
  {
    plan: (devices: string, many: number) =>
      plural(many, 'Plan, 1 Gerät', `Plan, ${devices} Geräte`),
    help: 'Pfeiltasten verschieben den Plan, + und - zoomen, 0 zeigt ihn ganz.',
    moveHelp:
      'Pfeiltasten verschieben das ausgewählte Gerät, mit Umschalttaste in größeren Schritten. Escape beendet die Auswahl.',
    zoomIn: 'Vergrößern',
    zoomOut: 'Verkleinern',
    fit: 'Ganzen Plan anzeigen',
    estimated: 'zwischen Geräten geschätzt',
    scale: (low: string, high: string) => `Farben von ${low} bis ${high}`,
    picture: 'Plan',
    colorBy: 'Färben nach',
    colorByState: 'Zustand',
    noPicture: 'Das Bild des Plans konnte nicht geladen werden',
  },
);
