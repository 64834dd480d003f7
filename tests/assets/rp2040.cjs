// Runs an RP2040 image in rp2040js, boot after boot, on one flash.
//
//   node rp2040.cjs RP2040JS IMAGE RTT SCENARIO
//
// RP2040JS is the folder of that package, IMAGE an ELF file, RTT the address of its control block (0 if it has none)
// and SCENARIO JSON: { "boots": [{ "cut": 3, "damage": "half" }, {}], "hangs": 255, "most": 2e9 }. Each boot runs until
// the core sleeps for good, the power is cut at a flash operation, or the watchdog bites; `hangs` are relays at which the
// ADC never answers. Standard output has one line per fact: `boot`, `rtt HEX`, `uart TEXT`, `relays BYTE`, `end WHY`.
//
// The boot ROM is not free to ship, so a stub stands in: its lookup table, and the functions that the flash needs.
'use strict';
const fs = require('fs');
const [folder, image, rttAddress, scenario] = process.argv.slice(2);
const { RP2040, GPIOPinState } = require(folder);
const { boots, hangs = -1, most = 4e9 } = JSON.parse(scenario);

const FLASH = 0x10000000;
const RAM = 0x20000000;
const ROM_END = 0x4000;
const LOOKUP = 0x200; // the ROM's function of functions
const FIRST = 0x300; // the functions, four bytes each
const BITTEN = Symbol('bitten');
const say = (...words) => fs.writeSync(1, words.join(' ') + '\n');

/** The loadable parts of an ELF file, at their addresses in flash. */
function load(flash) {
  const elf = fs.readFileSync(image);
  const [table, size, count] = [elf.readUInt32LE(28), elf.readUInt16LE(42), elf.readUInt16LE(44)];
  for (let i = 0; i < count; i++) {
    const at = table + i * size;
    const [type, offset, , physical, length] = [0, 4, 8, 12, 16].map((field) => elf.readUInt32LE(at + field));
    if (type === 1 && length > 0 && physical >= FLASH && physical < RAM) {
      flash.set(elf.subarray(offset, offset + length), physical - FLASH);
    }
  }
}

/** One boot on this flash. Returns why it ended, and what the watchdog keeps. */
function boot(kept, { cut = -1, damage = 'nothing' }, scratch) {
  const chip = new RP2040();
  const { core } = chip;
  chip.logger = { debug() {}, info() {}, warn() {}, error: (name, text) => say('error', name, text) };
  const rom = new Uint32Array(ROM_END / 4);
  rom[0x14 / 4] = 0x0110_0100; // the tables of functions and of data, which the stub's lookup ignores
  rom[0x18 / 4] = LOOKUP | 1;
  chip.loadBootrom(rom);
  if (kept) chip.flash.set(kept);
  else load(chip.flash);

  let why = null;
  let operations = 0;
  /** Changes the flash, all of it or up to a power cut. */
  const operate = (offset, length, value) => {
    const is_last = operations++ === cut;
    const whole = { nothing: 0, half: length >> 1, all: length }[is_last ? damage : 'all'];
    for (let i = 0; i < whole; i++) chip.flash[offset + i] = value(i, chip.flash[offset + i]);
    if (is_last) why = 'cut';
  };
  const functions = {
    IF() {}, EX() {}, FC() {}, CX() {},
    RE: (offset, length) => operate(offset, length, () => 0xff),
    RP: (offset, data, length) => operate(offset, length, (i, old) => old & chip.readUint8(data + i)),
    C4(to, from, length) {
      for (let i = 0; i < length; i++) chip.writeUint8(to + i, chip.readUint8(from + i));
    },
  };
  const names = Object.keys(functions);
  const romCall = (pc) => {
    const r = core.registers;
    if (pc === LOOKUP) {
      const name = names.indexOf(String.fromCharCode(r[1] & 0xff, (r[1] >> 8) & 0xff));
      if (name < 0) throw new Error(`the stub has no function ${r[1].toString(16)}`);
      r[0] = (FIRST + name * 4) | 1;
    } else {
      functions[names[(pc - FIRST) / 4]](r[0], r[1], r[2]);
    }
    core.PC = core.LR & ~1;
  };

  const relays = () => chip.gpio.slice(0, 8).reduce((byte, pin, i) => byte | ((pin.value === GPIOPinState.High) << i), 0);
  const sample = chip.adc.onADCRead;
  chip.adc.onADCRead = (channel) => {
    const on = relays();
    say('relays', on);
    if (on === hangs) return; // never answers
    // The cost: what eight weights miss of a target.
    const sum = [820, 410, 205, 102, 51, 26, 13, 6].reduce((sum, weight, i) => sum + ((on >> i) & 1) * weight, 0);
    chip.adc.channelValues[channel] = Math.abs(sum - 1000);
    sample(channel);
  };
  let line = '';
  chip.uart[0].onByte = (byte) => {
    if (byte !== 10) line += String.fromCharCode(byte);
    else [line] = [(say('uart', line), '')];
  };
  const watchdog = chip.peripherals[0x40058];
  watchdog.scratchData.set(scratch.words);
  watchdog.reason = scratch.reason;
  watchdog.onWatchdogTrigger = () => {
    throw BITTEN; // out of the clock, which would ring again at once
  };

  /** Takes what the image has written to its RTT buffer. */
  const block = Number(rttAddress);
  const takeLog = () => {
    if (!block || chip.readUint32(block) !== 0x47474553) return;
    const [, buffer, size, written, read] = [0, 4, 8, 12, 16].map((field) => chip.readUint32(block + 24 + field));
    const bytes = [];
    for (let at = read; at !== written; at = (at + 1) % size) bytes.push(chip.readUint8(buffer + at));
    if (bytes.length) say('rtt', Buffer.from(bytes).toString('hex'));
    chip.writeUint32(block + 24 + 16, written);
  };

  // The second stage of the boot has set up the flash and starts the image.
  core.VTOR = FLASH + 0x100;
  core.SP = chip.readUint32(core.VTOR);
  core.PC = chip.readUint32(core.VTOR + 4) & ~1;
  let executed = 0;
  while (why === null) {
    const pc = core.PC;
    if (pc < ROM_END) romCall(pc & ~1);
    else {
      try {
        chip.clock.tick(core.executeInstruction() * 8);
      } catch (error) {
        if (error !== BITTEN) throw error;
        why = 'bitten';
      }
    }
    if (core.waiting) why = 'asleep';
    if (++executed % 4096 === 0) takeLog();
    if (executed > most) why = 'too long';
  }
  takeLog();
  say('end', why, operations, executed);
  return { flash: chip.flash, scratch: { words: watchdog.scratchData, reason: why === 'bitten' ? 1 : 0 } };
}

let [flash, scratch] = [null, { words: new Uint32Array(8), reason: 0 }];
for (const one of boots) {
  say('boot');
  ({ flash, scratch } = boot(flash, one, scratch));
}
