// Columns of the alarm list; on a phone one cell has all of an alarm.
import { useMemo } from 'react';
import type { Alarm } from '../../api/alarms.ts';
import { Ago } from '../../parts/ago.tsx';
import { selectColumn } from '../../parts/rows/select-column.tsx';
import type { Selection } from '../../parts/rows/use-selection.ts';
import type { Column } from '../../parts/rows/windowed-table.tsx';
import { Severity } from '../../parts/severity.tsx';
import { Bone } from '../../parts/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { ActionsCell, DeviceCell, NameCell, RuleCell, StackedCell } from './alarm-cells.tsx';
import { alarmsWords } from './alarms-words.ts';

interface ColumnParts {
  readonly selection: Selection<Alarm>;
  readonly hasState: boolean;
  readonly isNarrow: boolean;
  readonly acknowledge: (alarm: Alarm) => void;
  readonly clear: (alarm: Alarm) => void;
}

type Words = (typeof alarmsWords)['en'];

export function useAlarmColumns(parts: ColumnParts): readonly Column<Alarm>[] {
  const words = useWords(alarmsWords);
  const { count } = useFormats();
  const { selection, hasState, isNarrow, acknowledge, clear } = parts;
  return useMemo(() => {
    const ends = [
      selectColumn(selection, words),
      actionsColumn(words, isNarrow, { acknowledge, clear }),
    ];
    const middle = isNarrow
      ? [stackedColumn(words, hasState)]
      : wideColumns(words, hasState, count);
    return [...ends.slice(0, 1), ...middle, ...ends.slice(1)];
  }, [words, count, selection, hasState, isNarrow, acknowledge, clear]);
}

function stackedColumn(words: Words, hasState: boolean): Column<Alarm> {
  return {
    key: 'alarm',
    width: 'minmax(0, 1fr)',
    header: words.name,
    bone: <Bone width="14em" />,
    cell: (alarm) => <StackedCell alarm={alarm} hasState={hasState} />,
  };
}

function wideColumns(
  words: Words,
  hasState: boolean,
  count: (value: number) => string,
): readonly Column<Alarm>[] {
  return [
    {
      key: 'severity',
      width: '104px',
      header: words.severity,
      bone: <Bone width="5em" />,
      cell: ({ severity }) => <Severity of={severity} />,
    },
    {
      key: 'name',
      width: 'minmax(220px, 2.4fr)',
      header: words.name,
      bone: <Bone width="14em" />,
      cell: (alarm) => <NameCell alarm={alarm} hasState={hasState} />,
    },
    {
      key: 'device',
      width: 'minmax(120px, 1.3fr)',
      header: words.device,
      bone: <Bone width="8em" />,
      cell: (alarm) => <DeviceCell alarm={alarm} />,
    },
    {
      key: 'rule',
      width: 'minmax(110px, 1.1fr)',
      header: words.rule,
      bone: <Bone width="7em" />,
      cell: (alarm) => <RuleCell alarm={alarm} />,
    },
    {
      key: 'times',
      width: '60px',
      header: words.times,
      cell: ({ count: times }) => <span className="num mute">×{count(times)}</span>,
    },
    {
      key: 'since',
      width: '104px',
      header: words.since,
      cell: ({ firstTriggered }) => <Ago at={firstTriggered} />,
    },
    {
      key: 'last',
      width: '104px',
      header: words.last,
      cell: ({ lastTriggered }) => <Ago at={lastTriggered} />,
    },
  ];
}

function actionsColumn(
  words: Words,
  isNarrow: boolean,
  act: Pick<ColumnParts, 'acknowledge' | 'clear'>,
): Column<Alarm> {
  return {
    key: 'actions',
    width: isNarrow ? '44px' : '72px',
    header: <span className="sr">{words.actions}</span>,
    cell: (alarm) => <ActionsCell alarm={alarm} {...act} />,
  };
}
