// Plan view: a picture with devices on it, which is moved and zoomed; devices are chosen, and moved where the reader may.
import { Maximize, Minus, Plus } from 'lucide-react';
import {
  type DragEvent,
  type KeyboardEvent,
  type PointerEvent,
  type RefObject,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react';
import { Button } from '../ui/button.tsx';
import { themeEvent } from '../ui/theme.ts';
import { type Size, useSize } from '../ui/use-size.ts';
import { useFormats, useWords } from '../words/language.tsx';
import { heatColor, heatOf } from './heat.ts';
import {
  cssOf,
  heatPicture,
  markAt,
  paintPlan,
  type PlanMark,
  type PlanScene,
  type PlanView as View,
} from './paint-plan.ts';
import styles from './plan.module.css';
import { planWords } from './plan-words.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

interface PlanViewProps {
  readonly picture: { readonly src: string; readonly width: number; readonly height: number };
  readonly marks: readonly PlanMark[];
  /** Colors the plan between the devices by their values. */
  readonly hasHeat?: boolean;
  /** How a value of the scale is written. */
  readonly valueText?: (value: number) => string;
  readonly chosenId?: string | undefined;
  readonly choose?: (id: string | undefined) => void;
  /** What takes the keys, for those who choose a device elsewhere. */
  readonly frame?: RefObject<HTMLDivElement | null>;
  /** Devices can be moved: by pointer, by the arrow keys, and by dropping them. */
  readonly move?: ((id: string, to: Point) => void) | undefined;
}

/** Type of what is dragged onto a plan: the id of a device. */
export const dragType = 'application/x-heliograph-device';

const zoomMax = 20;
const panPx = 40;
const stepPart = 0.005;
const largeStepPart = 0.05;

export function PlanView(props: PlanViewProps) {
  const { picture, marks, hasHeat = false, valueText = String } = props;
  const { chosenId, choose, frame, move } = props;
  const words = useWords(planWords);
  const { count } = useFormats();
  const helpId = useId();
  const own = useRef<HTMLDivElement>(null);
  const box = frame ?? own;
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(box);
  const { view, zoom, pan, fit } = useView(size, picture);
  const [isLost, setLost] = useState(false);
  const heat = useHeat(marks, picture.width / picture.height, hasHeat);
  const scene: PlanScene = { size, view, marks, chosenId, heat: heat?.picture, scale: heat?.scale };
  usePainting(canvas, scene);
  const partAt = ({ x, y }: Point): Point => ({
    x: limited((x - view.left) / view.width),
    y: limited((y - view.top) / view.height),
  });
  const gestures = useGestures({ box, scene, pan, zoom, choose, move, partAt });
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const chosen = marks.find(({ id }) => id === chosenId);
    const by = arrows[event.key];
    if (by !== undefined && chosen !== undefined && move !== undefined) {
      const step = event.shiftKey ? largeStepPart : stepPart;
      move(chosen.id, { x: limited(chosen.x + by.x * step), y: limited(chosen.y + by.y * step) });
    } else if (by !== undefined) pan(-by.x * panPx, -by.y * panPx);
    else if (event.key === '+' || event.key === '=') zoom(1.5);
    else if (event.key === '-') zoom(1 / 1.5);
    else if (event.key === '0') fit();
    else if (event.key === 'Escape' && chosenId !== undefined) choose?.(undefined);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const drop = (event: DragEvent) => {
    const id = event.dataTransfer.getData(dragType);
    const at = pointIn(box.current, event);
    if (id === '' || move === undefined || at === undefined) return;
    event.preventDefault();
    move(id, partAt(at));
  };
  return (
    <div className={styles['plan']}>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- its role is that of an application with keys of its own */}
      <div
        ref={box}
        className={styles['box']}
        role="application"
        aria-label={words.plan(count(marks.length), marks.length)}
        aria-describedby={helpId}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- its keys move the plan and devices
        tabIndex={0}
        onKeyDown={onKeyDown}
        onDragOver={(event) => {
          if (move !== undefined && event.dataTransfer.types.includes(dragType))
            event.preventDefault();
        }}
        onDrop={drop}
        {...gestures}
      >
        <img
          src={picture.src}
          alt=""
          draggable={false}
          onError={() => setLost(true)}
          onLoad={() => setLost(false)}
          style={{
            transform: `translate(${view.left}px, ${view.top}px)`,
            width: `${view.width}px`,
            height: `${view.height}px`,
          }}
        />
        <canvas ref={canvas} aria-hidden="true" />
      </div>
      <p id={helpId} className="sr">
        {move === undefined ? words.help : `${words.help} ${words.moveHelp}`}
      </p>
      {isLost && (
        <p role="alert" className={styles['lost']}>
          {words.noPicture}
        </p>
      )}
      <div className={styles['zoom']}>
        <Button isIcon aria-label={words.zoomIn} title={words.zoomIn} onClick={() => zoom(1.5)}>
          <Plus aria-hidden="true" />
        </Button>
        <Button
          isIcon
          aria-label={words.zoomOut}
          title={words.zoomOut}
          onClick={() => zoom(1 / 1.5)}
        >
          <Minus aria-hidden="true" />
        </Button>
        <Button isIcon aria-label={words.fit} title={words.fit} onClick={fit}>
          <Maximize aria-hidden="true" />
        </Button>
      </div>
      {heat !== undefined && (
        <Scale low={valueText(heat.scale.min)} high={valueText(heat.scale.max)} />
      )}
    </div>
  );
}

const scaleParts = [0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1];

function Scale({ low, high }: { readonly low: string; readonly high: string }) {
  const words = useWords(planWords);
  const colors = scaleParts.map((part) => cssOf(heatColor(part))).join(', ');
  return (
    <div
      className={styles['scale']}
      role="img"
      aria-label={`${words.scale(low, high)}, ${words.estimated}`}
    >
      <span className="num">{low}</span>
      <span
        className={styles['ramp']}
        style={{ background: `linear-gradient(to right, ${colors})` }}
      />
      <span className="num">{high}</span>
      <span className="faint">{words.estimated}</span>
    </div>
  );
}

const arrows: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

const limited = (part: number): number => Math.min(1, Math.max(0, part));

function pointIn(
  box: HTMLElement | null,
  { clientX, clientY }: { readonly clientX: number; readonly clientY: number },
): Point | undefined {
  const place = box?.getBoundingClientRect();
  return place && { x: clientX - place.left, y: clientY - place.top };
}

/** The whole picture in the middle of the box, until someone moves it. */
function useView(size: Size, picture: PlanViewProps['picture']) {
  const [moved, setMoved] = useState<View>();
  const { width: pictureWidth, height: pictureHeight } = picture;
  const whole = useMemo(
    () => fitted(size, pictureWidth, pictureHeight),
    [size, pictureWidth, pictureHeight],
  );
  const view = moved ?? whole;
  const zoom = (factor: number, at: Point = { x: size.width / 2, y: size.height / 2 }) => {
    const before = moved ?? whole;
    const width = Math.min(whole.width * zoomMax, Math.max(whole.width / 2, before.width * factor));
    const by = before.width === 0 ? 1 : width / before.width;
    setMoved({
      left: at.x - (at.x - before.left) * by,
      top: at.y - (at.y - before.top) * by,
      width,
      height: before.height * by,
    });
  };
  const pan = (x: number, y: number) =>
    setMoved((before = whole) => ({ ...before, left: before.left + x, top: before.top + y }));
  return { view, zoom, pan, fit: () => setMoved(undefined) };
}

function fitted({ width, height }: Size, pictureWidth: number, pictureHeight: number): View {
  const scale = Math.min(width / pictureWidth, height / pictureHeight);
  const [shownWidth, shownHeight] = [pictureWidth * scale, pictureHeight * scale];
  return {
    left: (width - shownWidth) / 2,
    top: (height - shownHeight) / 2,
    width: shownWidth,
    height: shownHeight,
  };
}

function useHeat(marks: readonly PlanMark[], aspect: number, isOn: boolean) {
  return useMemo(() => {
    if (!isOn) return undefined;
    const points = marks.flatMap(({ x, y, value }) =>
      value === undefined ? [] : [{ x, y, value }],
    );
    const heat = heatOf(points, aspect);
    return heat && { picture: heatPicture(heat), scale: { min: heat.min, max: heat.max } };
  }, [marks, aspect, isOn]);
}

/** At most once a frame, and again when the theme changes. */
function usePainting(canvas: RefObject<HTMLCanvasElement | null>, scene: PlanScene): void {
  const latest = useRef(scene);
  useEffect(() => {
    latest.current = scene;
    const frame = requestAnimationFrame(() => paintOn(canvas.current, latest.current));
    return () => cancelAnimationFrame(frame);
  });
  useEffect(() => {
    const again = () => paintOn(canvas.current, latest.current);
    addEventListener(themeEvent, again);
    return () => removeEventListener(themeEvent, again);
  }, [canvas]);
}

function paintOn(canvas: HTMLCanvasElement | null, scene: PlanScene): void {
  if (canvas !== null && scene.size.width > 0) paintPlan(canvas, scene, devicePixelRatio);
}

interface GestureParts {
  readonly choose: PlanViewProps['choose'] | undefined;
  readonly move: PlanViewProps['move'];
  readonly box: RefObject<HTMLElement | null>;
  readonly scene: PlanScene;
  readonly pan: (x: number, y: number) => void;
  readonly zoom: (factor: number, at?: Point) => void;
  readonly partAt: (at: Point) => Point;
}

/** A pointer that moves less than this clicks. */
const clickPx = 4;

/** Dragging moves the plan, or the device under the pointer where it can be moved; a click chooses. */
function useGestures(parts: GestureParts) {
  const latest = useRef(parts);
  useEffect(() => {
    latest.current = parts;
  });
  const press = useRef<{
    readonly start: Point;
    last: Point;
    readonly id: string | undefined;
    isDrag: boolean;
  }>(undefined);
  useEffect(() => {
    const element = parts.box.current;
    if (element === null) return undefined;
    // Not passive, as React's is: the page would scroll too.
    const wheel = (event: WheelEvent) => {
      if (!(event.ctrlKey || document.activeElement === element)) return;
      event.preventDefault();
      latest.current.zoom(Math.exp(-event.deltaY / 300), pointIn(element, event));
    };
    element.addEventListener('wheel', wheel, { passive: false });
    return () => element.removeEventListener('wheel', wheel);
  }, [parts.box]);
  return {
    onPointerDown(event: PointerEvent<HTMLElement>) {
      const at = pointIn(parts.box.current, event);
      if (at === undefined || event.button !== 0) return;
      const found = markAt(parts.scene, at);
      press.current = { start: at, last: at, id: found?.id, isDrag: false };
      event.currentTarget.setPointerCapture(event.pointerId);
    },
    onPointerMove(event: PointerEvent<HTMLElement>) {
      const { current } = press;
      const at = pointIn(parts.box.current, event);
      if (current === undefined || at === undefined) return;
      const far = Math.hypot(at.x - current.start.x, at.y - current.start.y) > clickPx;
      if (!current.isDrag && !far) return;
      current.isDrag = true;
      if (parts.move !== undefined && current.id !== undefined) {
        parts.choose?.(current.id);
        parts.move(current.id, parts.partAt(at));
      } else parts.pan(at.x - current.last.x, at.y - current.last.y);
      current.last = at;
    },
    onPointerUp() {
      const { current } = press;
      press.current = undefined;
      if (current !== undefined && !current.isDrag) parts.choose?.(current.id);
    },
    onPointerCancel() {
      press.current = undefined;
    },
  };
}
