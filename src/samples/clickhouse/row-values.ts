// Row values: the value that a data key names in open rows, without the object around it.
import type { DataShape } from '../../log/data-shape.ts';
import { dataValue } from '../../model/data-value.ts';
import type { Json } from '../../model/json.ts';
import { dataOfRow, type OpenRow } from './open-row.ts';
import { pointKinds, pointsOfShape, type ShapePoint } from './shape-points.ts';

/** As `dataValue` of the object of the row. */
export type ValueOfRow = (row: OpenRow) => Json | undefined;

export function valuesOfKey(dataKey: string): ValueOfRow {
  const key = JSON.stringify(dataKey);
  const points = new Map<DataShape, ShapePoint | undefined>();
  function pointOf(shape: DataShape): ShapePoint | undefined {
    if (!points.has(shape))
      points.set(
        shape,
        pointsOfShape(shape).find((point) => point.key === key),
      );
    return points.get(shape);
  }
  return (row) => {
    const { shape, values, valuesAt } = row;
    const { kind, leaf } = pointOf(shape) ?? unlisted;
    if (leaf < 0) return dataValue(dataOfRow(row), dataKey);
    if (kind === pointKinds.text) return values.textAt(valuesAt + leaf);
    const value = values.numberAt(valuesAt + leaf);
    return kind === pointKinds.boolean ? value !== 0 : value;
  };
}

/** Elements of arrays, nulls, objects and what only the object shows. */
const unlisted: Pick<ShapePoint, 'kind' | 'leaf'> = { kind: pointKinds.other, leaf: -1 };
