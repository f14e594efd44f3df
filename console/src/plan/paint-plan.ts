// Plan painting: heat, then devices with their states and values, on a canvas over the picture.
import { tokenValue } from '../ui/theme.ts';
import { type Color, type Heat, heatColor, heatSide, partOf } from './heat.ts';

export type MarkState = 'ONLINE' | 'OFFLINE' | 'UNKNOWN' | 'DE_REGISTERED';

export interface PlanMark {
  readonly id: string;
  readonly name: string;
  /** Fractions of the width and height of the plan. */
  readonly x: number;
  readonly y: number;
  readonly state: MarkState;
  /** What stands beside it, such as `21.4 °C`. */
  readonly label?: string | undefined;
  /** Colors it by the scale of the heat. */
  readonly value?: number | undefined;
}

/** Where the picture is in the box, in pixels. */
export interface PlanView {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface PlanScene {
  readonly size: { readonly width: number; readonly height: number };
  readonly view: PlanView;
  readonly marks: readonly PlanMark[];
  readonly chosenId: string | undefined;
  /** Drawn by `heatPicture`. */
  readonly heat: HTMLCanvasElement | undefined;
  readonly scale: Pick<Heat, 'min' | 'max'> | undefined;
}

const radiusPx = 7;
/** More labels than these would cover each other. */
const labelsMax = 80;
const heatAlpha = 140;

/** A picture of one pixel for each cell, which is drawn smoothly. */
export function heatPicture({ cells, ...scale }: Heat): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = heatSide;
  canvas.height = heatSide;
  const context = canvas.getContext('2d');
  if (context === null) return canvas;
  const pixels = context.createImageData(heatSide, heatSide);
  for (const [at, value] of cells.entries()) {
    if (Number.isNaN(value)) continue;
    const [red, green, blue] = heatColor(partOf(value, scale));
    pixels.data.set([red, green, blue, heatAlpha], at * 4);
  }
  context.putImageData(pixels, 0, 0);
  return canvas;
}

function screenOf({ left, top, width, height }: PlanView, { x, y }: Pick<PlanMark, 'x' | 'y'>) {
  return { x: left + x * width, y: top + y * height };
}

/** A click counts up to this far from a device. */
const reachPx = 14;

export function markAt(
  { marks, view }: Pick<PlanScene, 'marks' | 'view'>,
  at: { readonly x: number; readonly y: number },
): PlanMark | undefined {
  let nearest: PlanMark | undefined;
  let least = reachPx;
  for (const mark of marks) {
    const { x, y } = screenOf(view, mark);
    const distance = Math.hypot(x - at.x, y - at.y);
    if (distance > least) continue;
    least = distance;
    nearest = mark;
  }
  return nearest;
}

export function paintPlan(canvas: HTMLCanvasElement, scene: PlanScene, pixelRatio: number): void {
  const context = canvas.getContext('2d');
  if (context === null) return;
  const { size, view } = scene;
  const [width, height] = [
    Math.round(size.width * pixelRatio),
    Math.round(size.height * pixelRatio),
  ];
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
  context.clearRect(0, 0, size.width, size.height);
  const shown = marksInView(scene);
  const layer = layerOf(canvas, scene, pixelRatio);
  if (layer === undefined) paintContent(context, scene, shown, pixelRatio);
  else
    context.drawImage(
      layer,
      Math.round(view.left) - marginPx,
      Math.round(view.top) - marginPx,
      layer.width / pixelRatio,
      layer.height / pixelRatio,
    );
  paintChosen(context, scene, shown);
  paintLabels(context, scene, shown);
}

function paintContent(
  context: CanvasRenderingContext2D,
  { heat, view, scale }: PlanScene,
  shown: readonly Shown[],
  pixelRatio: number,
): void {
  if (heat !== undefined) context.drawImage(heat, view.left, view.top, view.width, view.height);
  paintMarks(context, scale, shown, pixelRatio);
}

// Layer: heat and devices of a whole plan as one picture, which moves with the plan until one of them changes.

interface Layer {
  readonly made: Pick<PlanScene, 'marks' | 'heat' | 'scale'>;
  /** Size and theme. */
  readonly key: string;
  readonly picture: HTMLCanvasElement;
}

const layers = new WeakMap<HTMLCanvasElement, Layer>();
/** Around the plan, for devices at its edge. */
const marginPx = 12;
/** Of each side of a layer; a plan that is zoomed further has few devices in view. */
const layerPixelsMax = 4_096;

/** Undefined for few devices, and for a plan that is zoomed far. */
function layerOf(
  canvas: HTMLCanvasElement,
  scene: PlanScene,
  pixelRatio: number,
): HTMLCanvasElement | undefined {
  const { marks, heat, scale, view } = scene;
  const width = Math.ceil((view.width + 2 * marginPx) * pixelRatio);
  const height = Math.ceil((view.height + 2 * marginPx) * pixelRatio);
  if (marks.length <= smallAbove || Math.max(width, height) > layerPixelsMax) return undefined;
  const key = `${themeName()} ${width} ${height} ${pixelRatio}`;
  const known = layers.get(canvas);
  const isSame =
    known?.key === key &&
    known.made.marks === marks &&
    known.made.heat === heat &&
    known.made.scale === scale;
  if (isSame) return known.picture;
  const picture = known?.picture ?? document.createElement('canvas');
  // Setting the size clears the picture too.
  Object.assign(picture, { width, height });
  const context = picture.getContext('2d');
  if (context === null) return undefined;
  context.scale(pixelRatio, pixelRatio);
  const whole = { ...scene, view: { ...view, left: marginPx, top: marginPx } };
  const shown = marks.map((mark) => ({ mark, ...screenOf(whole.view, mark) }));
  paintContent(context, whole, shown, pixelRatio);
  layers.set(canvas, { made: { marks, heat, scale }, key, picture });
  return picture;
}

const themeName = (): string => document.documentElement.dataset['theme'] ?? '';

interface Shown {
  readonly mark: PlanMark;
  readonly x: number;
  readonly y: number;
}

function marksInView({ marks, view, size }: PlanScene): readonly Shown[] {
  const shown: Shown[] = [];
  for (const mark of marks) {
    const { x, y } = screenOf(view, mark);
    if (x < -radiusPx || y < -radiusPx || x > size.width + radiusPx || y > size.height + radiusPx)
      continue;
    shown.push({ mark, x, y });
  }
  return shown;
}

const stateTokens: Readonly<Record<MarkState, `--${string}`>> = {
  ONLINE: '--ok',
  OFFLINE: '--bad',
  UNKNOWN: '--ink-3',
  DE_REGISTERED: '--warn',
};

/** Parts of the scale that have a color of their own. */
const steps = 24;

/** A device is a picture that is drawn once: thousands of paths would not keep 60 frames a second. */
function paintMarks(
  context: CanvasRenderingContext2D,
  scale: PlanScene['scale'],
  shown: readonly Shown[],
  pixelRatio: number,
): void {
  const factor = shown.length > smallAbove ? smallFactor : 1;
  const side = spriteSide * factor;
  for (const { mark, x, y } of shown)
    context.drawImage(
      spriteOf(mark.state, colorOf(mark, scale), pixelRatio * factor),
      Math.round(x - side / 2),
      Math.round(y - side / 2),
      side,
      side,
    );
}

function paintChosen(
  context: CanvasRenderingContext2D,
  { chosenId }: PlanScene,
  shown: readonly Shown[],
): void {
  const chosen = shown.find(({ mark }) => mark.id === chosenId);
  if (chosen === undefined) return;
  context.strokeStyle = tokenValue('--focus');
  context.lineWidth = 3;
  context.beginPath();
  context.arc(chosen.x, chosen.y, radiusPx + 4, 0, 2 * Math.PI);
  context.stroke();
}

/** Of a device with its rim. */
const spriteSide = 20;
/** So many devices are drawn smaller, because they would cover each other. */
const smallAbove = 1_000;
const smallFactor = 0.6;
const spritesMax = 500;
const sprites = new Map<string, HTMLCanvasElement>();

function spriteOf(state: MarkState, color: string, pixels: number): HTMLCanvasElement {
  const key = `${themeName()} ${state} ${color} ${pixels}`;
  const known = sprites.get(key);
  if (known !== undefined) return known;
  if (sprites.size >= spritesMax) sprites.clear();
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(spriteSide * pixels);
  canvas.height = canvas.width;
  sprites.set(key, canvas);
  const context = canvas.getContext('2d');
  if (context === null) return canvas;
  context.scale(canvas.width / spriteSide, canvas.height / spriteSide);
  context.lineWidth = 2;
  context.strokeStyle = tokenValue('--surface');
  context.fillStyle = color;
  context.beginPath();
  shapeOf(context, state, spriteSide / 2, spriteSide / 2);
  context.stroke();
  context.fill();
  return canvas;
}

/** The shape tells the state too: a circle is online, a square offline, a diamond anything else. */
function shapeOf(context: CanvasRenderingContext2D, state: MarkState, x: number, y: number): void {
  if (state === 'ONLINE') {
    context.moveTo(x + radiusPx, y);
    context.arc(x, y, radiusPx, 0, 2 * Math.PI);
  } else if (state === 'OFFLINE') context.rect(x - 6, y - 6, 12, 12);
  else {
    context.moveTo(x, y - 8);
    context.lineTo(x + 8, y);
    context.lineTo(x, y + 8);
    context.lineTo(x - 8, y);
    context.closePath();
  }
}

const tokens = new Map<string, string>();

/** Tokens are read once for each painting, and not for each device. */
function colorOf({ state, value }: PlanMark, scale: PlanScene['scale']): string {
  if (scale === undefined) return stateColor(state);
  if (value === undefined) return stateColor('UNKNOWN');
  return cssOf(heatColor(Math.round(partOf(value, scale) * steps) / steps));
}

function stateColor(state: MarkState): string {
  const key = `${themeName()} ${state}`;
  let color = tokens.get(key);
  if (color === undefined) tokens.set(key, (color = tokenValue(stateTokens[state])));
  return color;
}

export const cssOf = ([red, green, blue]: Color): string => `rgb(${red} ${green} ${blue})`;

function paintLabels(
  context: CanvasRenderingContext2D,
  { chosenId }: PlanScene,
  shown: readonly Shown[],
): void {
  const named = shown.length > labelsMax ? shown.filter(({ mark }) => mark.id === chosenId) : shown;
  context.font = `12px ${tokenValue('--sans')}`;
  context.textBaseline = 'middle';
  context.lineJoin = 'round';
  context.lineWidth = 4;
  context.strokeStyle = tokenValue('--surface');
  context.fillStyle = tokenValue('--ink');
  for (const { mark, x, y } of named) {
    const text =
      mark.id === chosenId
        ? [mark.name, mark.label].filter(Boolean).join(': ')
        : (mark.label ?? mark.name);
    const short = text.length > 40 ? `${text.slice(0, 39)}…` : text;
    context.strokeText(short, x + 12, y);
    context.fillText(short, x + 12, y);
  }
}
