// Logic of rules for tests: constants, data sources and comparisons as requests contain them.

export const constant = (value: unknown, valueType?: string) => ({
  type: 'CONSTANT',
  value,
  valueType,
});
const fromSource = { type: 'DATA_SOURCE', dataSourceId: 'dataSource::t' };

/** A data source of one input: its temperature. */
export function sourceOf(id: string, more: object = {}) {
  return {
    id: 'dataSource::t',
    inputIds: [id],
    dataTopic: 'default',
    dataKey: 'temperature',
    valueType: 'NUMERICAL',
    lastSample: false,
    triggerOnUplink: false,
    ...more,
  };
}

/** Fires when the temperature of the input is above 20. */
export function comparison(id: string, condition: object = {}, block: object = {}) {
  const conditions = [
    {
      operandFirst: fromSource,
      operator: 'GT',
      operandSecond: constant(20),
      order: 0,
      ...condition,
    },
  ];
  return {
    type: 'COMPARISON',
    dataSources: [sourceOf(id)],
    logicBlocks: [{ conditions, actionIds: [], ...block }],
  };
}

/** A custom logic block with the temperature of the input as its data source. */
export function customLogic(id: string, customLogicId: string, properties: object[] = []) {
  return {
    type: 'CUSTOM_LOGIC',
    dataSources: [sourceOf(id, { variableName: 'temperature' })],
    customLogic: { customLogicId, name: null, actionIds: [], properties },
  };
}
