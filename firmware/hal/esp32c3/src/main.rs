//! Tunes eight relays by what the ADC reads, on an ESP32-C3 with esp-hal.
//!
//! Relays at GPIO 3 to 10, the cost at GPIO 2, the log in the partition `nvs`, its lines on the console.
#![no_std]
#![no_main]

use defmt::{info, unwrap};
use esp_bootloader_esp_idf::partitions::{
    DataPartitionSubType, PARTITION_TABLE_MAX_LEN, PartitionType, read_partition_table,
};
use esp_hal::analog::adc::{Adc, AdcConfig, Attenuation};
use esp_hal::delay::Delay;
use esp_hal::gpio::{Level, Output, OutputConfig};
use esp_storage::FlashStorage;
use static_cell::ConstStaticCell;
use trimtab::{Config, Knob, Space};
use trimtab_embedded::journal::Layout;
use trimtab_embedded::objective::{Objective as _, Switches, step};
use trimtab_embedded::persistent::{Persistent, Task};
use {esp_backtrace as _, esp_println as _};

esp_bootloader_esp_idf::esp_app_desc!();

const KNOBS: [Knob; 8] = [Knob::nominal(2); 8];
const BUDGET: u32 = 48;
type MyTuner = trimtab::tuner!(KNOBS, observations: 64, rows: 128);
static TUNER: ConstStaticCell<MyTuner> = ConstStaticCell::new(MyTuner::new());

#[esp_hal::main]
fn main() -> ! {
    let p = esp_hal::init(esp_hal::Config::default());
    let relays = [
        Output::new(p.GPIO3, Level::Low, OutputConfig::default()),
        Output::new(p.GPIO4, Level::Low, OutputConfig::default()),
        Output::new(p.GPIO5, Level::Low, OutputConfig::default()),
        Output::new(p.GPIO6, Level::Low, OutputConfig::default()),
        Output::new(p.GPIO7, Level::Low, OutputConfig::default()),
        Output::new(p.GPIO8, Level::Low, OutputConfig::default()),
        Output::new(p.GPIO9, Level::Low, OutputConfig::default()),
        Output::new(p.GPIO10, Level::Low, OutputConfig::default()),
    ];
    let mut pins = AdcConfig::new();
    let mut input = pins.enable_pin(p.GPIO2, Attenuation::_11dB);
    let mut adc = Adc::new(p.ADC1, pins);
    let read = || nb::block!(adc.read_oneshot(&mut input)).map(f32::from);
    let mut bank = Switches::new(relays, Delay::new(), 5_000, read);

    // The partition table says where the log may lie: never in the image.
    let mut flash = FlashStorage::new(p.FLASH);
    let mut table = [0; PARTITION_TABLE_MAX_LEN];
    let table = unwrap!(read_partition_table(&mut flash, &mut table).ok());
    let nvs = unwrap!(table.find_partition(PartitionType::Data(DataPartitionSubType::Nvs)).ok().flatten());
    let layout = Layout { range: nvs.offset()..nvs.offset() + nvs.len(), records: 64 };

    let task = Task { space: unwrap!(Space::new(&KNOBS)), config: Config::default(), seed: 1, meaning: 0 };
    let (mut kept, boot) = unwrap!(Persistent::open(TUNER.take(), &task, flash, layout));
    info!("{}", boot);
    while kept.total() < BUDGET {
        let step = unwrap!(step(&mut kept, &mut bank));
        info!("{=u32} of {=u32}: {}", kept.total(), BUDGET, step);
        // The relays rest: erase now, if a page is full. A watchdog would be fed here.
        kept.prepare(&mut || ());
    }
    if let Some(best) = kept.tuner().best_observed() {
        info!("best: {}", best);
        unwrap!(bank.apply(&best.combination).ok());
    }
    loop {}
}
