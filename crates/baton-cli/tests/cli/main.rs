//! The command line as people meet it: the real binary, in folders of its own.

mod config;
mod counters;
mod crash_notice;
mod demo;
mod doctor;
mod fences;
mod handover;
mod health;
mod layout;
mod logs;
mod metrics;
mod partitions;
mod people;
mod plugins;
mod reading;
mod schedules;
mod secrets;
mod serve;
mod sim;
mod support;
mod ttl;
mod untouched;
