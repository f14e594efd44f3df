// Column dialog: which columns the device list has; order and width by pointer and by keyboard.
import { useQuery } from '@tanstack/react-query';
import { GripVertical, X } from 'lucide-react';
import { type KeyboardEvent, useRef, useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { useWords } from '../../../words/language.tsx';
import type { ValueKey } from '../device-values.ts';
import { columnWords, devicesWords } from '../devices-words.ts';
import { filterOptions } from '../filter/filter.ts';
import {
  type ChosenColumn,
  columnKey,
  movedColumn,
  readColumnKey,
  resizedColumn,
  namedColumns,
  standardColumns,
  widthLimits,
} from './column-order.ts';
import styles from './columns.module.css';

interface ColumnDialogProps {
  readonly workspaceId: string;
  readonly columns: readonly ChosenColumn[];
  /** Values that the devices in view send. */
  readonly known: readonly ValueKey[];
  readonly change: (columns: readonly ChosenColumn[]) => void;
  readonly close: () => void;
}

export function ColumnDialog({ workspaceId, columns, known, change, close }: ColumnDialogProps) {
  const words = useWords(columnWords);
  const usual = standardColumns.map((key) => ({ key }));
  return (
    <Dialog
      title={words.title}
      close={close}
      footer={
        <>
          <Button look="ghost" onClick={() => change(usual)}>
            {words.reset}
          </Button>
          <span className="grow" />
          <Button look="primary" onClick={close}>
            {words.done}
          </Button>
        </>
      }
    >
      <p className="mute">{words.note}</p>
      <ColumnList columns={columns} known={known} change={change} />
      <AddColumn
        workspaceId={workspaceId}
        columns={columns}
        known={known}
        add={(key) => change([...columns, { key }])}
      />
    </Dialog>
  );
}

type ListProps = Pick<ColumnDialogProps, 'columns' | 'known' | 'change'>;

function ColumnList({ columns, known, change }: ListProps) {
  const words = useWords(columnWords);
  const nameOf = useColumnName(known);
  const dragged = useRef<number>(undefined);
  const [said, setSaid] = useState('');
  const move = (from: number, to: number) => {
    const moved = movedColumn(columns, from, to);
    if (moved === columns) return;
    change(moved);
    setSaid(words.moved(nameOf(columns[from]?.key ?? ''), to + 1, columns.length));
  };
  if (columns.length === 0) return <p className="faint">{words.none}</p>;
  return (
    <>
      <ul className={`stack gap-2 ${styles['list']}`}>
        {columns.map((column, at) => (
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the grip in it has the same for keys
          <li
            key={column.key}
            draggable
            onDragStart={() => {
              dragged.current = at;
            }}
            onDragOver={(event) => {
              event.preventDefault();
              const from = dragged.current;
              if (from === undefined || from === at) return;
              move(from, at);
              dragged.current = at;
            }}
            onDragEnd={() => {
              dragged.current = undefined;
            }}
          >
            <ColumnRow
              column={column}
              name={nameOf(column.key)}
              move={(step) => move(at, at + step)}
              resize={(widthPx) => change(resizedColumn(columns, column.key, widthPx))}
              remove={() => change(columns.filter(({ key }) => key !== column.key))}
            />
          </li>
        ))}
      </ul>
      <span className="sr" role="status">
        {said}
      </span>
    </>
  );
}

interface ColumnRowProps {
  readonly column: ChosenColumn;
  readonly name: string;
  readonly move: (step: number) => void;
  readonly resize: (widthPx: number | undefined) => void;
  readonly remove: () => void;
}

const widthStep = 10;

function ColumnRow({ column: { widthPx }, name, move, resize, remove }: ColumnRowProps) {
  const words = useWords(columnWords);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    move(step);
  };
  return (
    <>
      <button
        type="button"
        className={styles['grip']}
        aria-label={words.move(name)}
        aria-keyshortcuts="ArrowUp ArrowDown"
        onKeyDown={onKeyDown}
      >
        <GripVertical aria-hidden="true" />
      </button>
      <span className="cut shrinks grow strong">{name}</span>
      <label className={`row gap-6 faint ${styles['width']}`}>
        <span className="sr">{words.width(name)}</span>
        <WidthField key={widthPx} widthPx={widthPx} resize={resize} />
        <span aria-hidden="true">px</span>
      </label>
      <Button look="ghost" isIcon aria-label={words.remove(name)} onClick={remove}>
        <X aria-hidden="true" />
      </Button>
    </>
  );
}

/** A number counts as soon as it is a width: 1 is only the beginning of 150. */
function WidthField({ widthPx, resize }: Pick<ColumnRowProps, 'resize'> & ChosenWidth) {
  const words = useWords(columnWords);
  const [typed, setTyped] = useState(widthPx === undefined ? '' : String(widthPx));
  return (
    <input
      type="number"
      min={widthLimits.min}
      max={widthLimits.max}
      step={widthStep}
      placeholder={words.automatic}
      value={typed}
      onChange={({ target }) => setTyped(target.value)}
      onBlur={() => resize(typed === '' ? undefined : Number(typed))}
      onKeyDown={(event) => {
        if (event.key === 'Enter') resize(typed === '' ? undefined : Number(typed));
      }}
    />
  );
}

interface ChosenWidth {
  readonly widthPx: number | undefined;
}

interface AddColumnProps extends Pick<ColumnDialogProps, 'workspaceId' | 'columns' | 'known'> {
  readonly add: (key: string) => void;
}

function AddColumn({ workspaceId, columns, known, add }: AddColumnProps) {
  const words = useWords(columnWords);
  const nameOf = useColumnName(known);
  const options = useQuery(filterOptions(workspaceId)).data?.filterOptions ?? [];
  const fields = options.flatMap(({ customFieldName: name }) =>
    name === undefined ? [] : [columnKey({ kind: 'field', name })],
  );
  const values = known.map(({ topic, key }) => columnKey({ kind: 'value', topic, key }));
  const groups = [
    { name: words.standard, keys: namedColumns as readonly string[] },
    { name: words.fields, keys: fields },
    { name: words.values, keys: values },
  ];
  const isChosen = (key: string) => columns.some((column) => column.key === key);
  return (
    <label className={`stack gap-6 text-label ${styles['add']}`}>
      <span>{words.add}</span>
      <select value="" onChange={({ target }) => add(target.value)}>
        <option value="">{words.choose}</option>
        {groups.map(({ name, keys }) => {
          const others = keys.filter((key) => !isChosen(key));
          if (others.length === 0) return null;
          return (
            <optgroup key={name} label={name}>
              {others.map((key) => (
                <option key={key} value={key}>
                  {nameOf(key)}
                </option>
              ))}
            </optgroup>
          );
        })}
      </select>
    </label>
  );
}

function useColumnName(known: readonly ValueKey[]): (key: string) => string {
  const words = useWords(devicesWords);
  const names = {
    seen: words.lastSeen,
    type: words.type,
    tags: words.tags,
    values: words.values,
    battery: words.battery,
    place: words.place,
  };
  return (written) => {
    const column = readColumnKey(written);
    if (column === undefined) return written;
    if (column.kind === 'standard') return names[column.name];
    if (column.kind === 'field') return column.name;
    const { topic, key } = column;
    const title = known.find((one) => one.topic === topic && one.key === key)?.title ?? key;
    return topic === 'default' ? title : `${title} (${topic})`;
  };
}
